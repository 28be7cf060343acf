# Small systems in folders, with the toolchain of this machine. For the scripts that build or run something there, which
# source common.sh and then this. They need root, for chroot and mounts.

# What the toolchain needs, and what `make` needs to install the rest.
essentials=(
    binutils ca-certificates g++ git libc6-dev libcurl4-openssl-dev libedit2 libncurses6 libsqlite3-0 libxml2 make
    tzdata zlib1g-dev
)

# Git's settings of where packages come from, and the folders of this machine among them.
settings_of_git() { git config --list --name-only | grep -E '^(url\..*\.insteadof|http\.proxy)$' | sort -u; }
folders_of_git() { settings_of_git | sed -nE 's|^url\.(file://)?(/.*[^/])/*\.insteadof$|\2|p'; }

copy_settings_of_git() {
    local key
    rm -f "$root/etc/gitconfig"
    git config --file "$root/etc/gitconfig" --add safe.directory '*'
    for key in $(settings_of_git); do
        git config --get-all "$key" |
            while read -r value; do git config --file "$root/etc/gitconfig" --add "$key" "$value"; done
    done
}

# Runs a command in the chosen system, in this folder, whose .build is the system's own. Mounts end with the command.
# With `alone=yes` there is no network but loopback, and a .build for that.
enter() {
    local namespaces=(--mount) build=$folder/build${alone:+-alone}
    [ -z "${alone:-}" ] || namespaces+=(--net)
    # A system with its own has no other.
    local toolchain=
    [[ "$purpose" == *early* ]] || toolchain=$(toolchain)
    root=$root build=$build alone=${alone:-} toolchain=$toolchain folders=$(folders_of_git) unshare "${namespaces[@]}" bash -eu -c '
        [ -z "$alone" ] || ip link set lo up
        at() { mkdir -p "$root$2" && mount --bind "$1" "$root$2"; }
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mkdir -p "$build" .build
        at "$PWD" /src
        at "$build" /src/.build
        [ -z "$toolchain" ] || at "$toolchain" /opt/swift/usr
        for folder in $folders; do at "$folder" "$folder"; done
        cp -L /etc/resolv.conf "$root/etc/resolv.conf"
        exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            PATH=/opt/swift/usr/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "cd /src && \"\$@\"" in "$@"
    ' in "$@"
}

# Makes the chosen system's folder, unless it is there. What was downloaded is kept: debootstrap leaves out packages that
# it had to fetch twice, fails, and gets them from there when it is run again. (Each command says what happens when it
# fails: `set -e` does not hold in a function whose result is asked for.)
bootstrap() {
    [ ! -e "$folder/is-complete" ] || return 0
    fetch_keyring || return 1
    local try archives=$folder/archives
    mkdir -p "$archives"
    for try in first second; do
        rm -rf "$root"
        if debootstrap --variant=minbase --keyring="$keyring" --components="$components" --cache-dir="$archives" \
            "$suite" "$root" "$mirror" "/usr/share/debootstrap/scripts/$rules"; then
            break
        fi
        [ $try = first ] || return 1
    done
    # A mirror of a system that changes each day may be behind.
    [[ "$purpose" != *early* ]] ||
        echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99kingfisher" || return 1
    enter apt-get -q -q update || return 1
    local more=()
    [[ "$purpose" != *early* ]] || more=(swiftlang)
    [[ "$purpose" != *bare* ]] || more=(libssl-dev libxml2-dev pkg-config)
    enter apt-get -q -q install --yes --no-install-recommends "${essentials[@]}" "${more[@]}" || return 1
    rm -rf "$archives"
    touch "$folder/is-complete"
}

# Runs a command in a small system where nothing was built: "${inside[@]}" FOLDER COMMAND. Mounts end with it, and its
# process is the first one of these.
# shellcheck disable=SC2016,SC2034
inside=(unshare --mount bash -eu -c '
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    exec env -i DEBIAN_FRONTEND=noninteractive PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$@"
' inside)

# Makes $folder/base, a system with what is essential only, unless it is there. To be copied.
bootstrap_base() {
    [ ! -e "$folder/base-is-complete" ] || return 0
    fetch_keyring || return 1
    rm -rf "$folder/base"
    debootstrap --variant=minbase --keyring="$keyring" --components="$components" "$suite" "$folder/base" "$mirror" \
        "/usr/share/debootstrap/scripts/$rules" || return 1
    touch "$folder/base-is-complete"
}

# Starts kf-server in a small system, as a user, with settings of the environment, and has it make an image in each format.
# `$root/images` is its folder of images. What it writes is in $log.
check_server() { # user, setting...
    local server port answer format url
    mkdir -p "$root/images"
    cp docs/gallery.jpg "$root/images"
    local settings=("${@:2}" KF_BIND=127.0.0.1:0 KF_TRUSTED_SIGNATURES=check KF_LOCAL_FILESYSTEM_ROOT=/images)
    local as_user=(setpriv "--reuid=$1" "--regid=$1" --clear-groups env "${settings[@]}")
    "${inside[@]}" "$root" "${as_user[@]}" kf-server check >"$log" 2>&1 || fail "kf-server check failed: $(tail -n 1 "$log")"
    "${inside[@]}" "$root" "${as_user[@]}" kf-server serve >"$log" 2>&1 &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    for _ in {1..100}; do
        port=$(sed -nE 's/.*127\.0\.0\.1:([1-9][0-9]*).*/\1/p' "$log" | head -n 1)
        [ -z "$port" ] || break
        sleep 0.1
    done
    [ -n "$port" ] || fail "the server did not start: $(tail -n 1 "$log")"
    url=http://127.0.0.1:$port/check/rs:fill:300:200/plain/local:///gallery.jpg
    for format in webp avif jpg png gif; do
        answer=$(curl --silent --show-error --output "$folder/answer" \
            --write-out '%{http_code} %{content_type} %{size_download}' "$url@$format")
        [[ "$answer" == "200 image/${format/jpg/jpeg} "* ]] ||
            fail "$format was answered with $answer: $(cat "$folder/answer")"
        say "an image: $answer bytes"
    done
    kill $server
    wait $server || fail "the server ended with $?: $(tail -n 1 "$log")"
    trap - EXIT
    say "the server ended as it was told to"
}
