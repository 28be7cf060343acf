# What the scripts of this folder share, which source it: the table of systems, and an apt for each of them.
#
# Everything is kept in one folder, which may be removed at any time: $KF_SYSTEMS, or else ~/.cache/kingfisher-systems.

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
systems_folder=${KF_SYSTEMS:-${XDG_CACHE_HOME:-$HOME/.cache}/kingfisher-systems}

# The names of all systems.
names_of_systems() { awk '/^[^#]/ { print $1 }' "$here/list"; }

# Sets `systems` to those among the given ones, or among all, that are for a purpose; "" is any, but for
# those of tomorrow, which have to be named, and those without headers.
choose_systems() { # purpose, system...
    local wanted=$1 given system
    mapfile -t given < <(if [ $# -gt 1 ]; then printf '%s\n' "${@:2}"; else names_of_systems; fi)
    systems=()
    for system in "${given[@]}"; do
        choose_system "$system"
        [[ "$purpose" == *"$wanted"* ]] || continue
        [[ -n "$wanted" || "$purpose" != *bare* ]] || continue
        [[ $# = 1 && -z "$wanted" && "$purpose" == *early* ]] || systems+=("$system")
    done
}

# Sets `name` and what is known of that system: suite, architecture, triple, purpose; mirror, components, keyring, rules
# (debootstrap's, which are the same for all suites, also those that are newer than it); and its folder.
choose_system() {
    name=$1
    local line distribution
    line=$(awk -v name="$name" '$1 == name' "$here/list")
    if [ -z "$line" ]; then
        echo "$name is no system in Scripts/systems/list; there are: $(names_of_systems | xargs)" >&2
        exit 2
    fi
    read -r _ distribution suite architecture purpose <<<"$line"
    case "$distribution" in
        debian)
            mirror=http://deb.debian.org/debian components=main keyring=debian-archive-keyring rules=sid
            keyring_package=debian-archive-keyring keyring_system=ubuntu-24.04 ;;
        ubuntu)
            mirror=http://archive.ubuntu.com/ubuntu components=main,universe keyring=ubuntu-archive-keyring rules=gutsy
            keyring_package=ubuntu-keyring keyring_system=debian-13 ;;
    esac
    keyring=/usr/share/keyrings/$keyring.gpg
    [ -f "$keyring" ] || keyring=$systems_folder/keyrings$keyring
    case "$architecture" in amd64) triple=x86_64-linux-gnu ;; arm64) triple=aarch64-linux-gnu ;; esac
    folder=$systems_folder/$name
}

# The folder of the toolchain, which has bin/swift. (What is called swift may be a launcher that is somewhere else.)
toolchain() { swift -print-target-info | sed -n 's|.*"runtimeResourcePath": *"\(.*\)/lib/swift".*|\1|p'; }

# apt-get and apt-cache for the chosen system instead of this one: `system_apt get update`. Installs nothing on this
# system, and needs no privileges.
system_apt() {
    local state=$folder/apt
    mkdir -p "$state"/etc/apt/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d} \
        "$state"/var/lib/apt/lists/partial "$state"/var/cache/apt/archives/partial "$state"/var/lib/dpkg
    touch "$state/var/lib/dpkg/status"
    echo "deb [arch=$architecture signed-by=$keyring] $mirror $suite ${components//,/ }" >"$state/etc/apt/sources.list"
    "apt-$1" -q -q -o Dir="$state" -o Dir::State::status="$state/var/lib/dpkg/status" -o APT::Sandbox::User=root \
        -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" -o Acquire::Languages=none \
        -o APT::Install-Recommends=false -o Acquire::Retries=2 -o Acquire::http::Timeout=10 \
        -o APT::Update::Error-Mode=any "${@:2}"
}

# Fetches the keys of the chosen system's distribution from the other one, whose keys are here.
fetch_keyring() {
    [ ! -f "$keyring" ] || return 0
    local package=$keyring_package other=$keyring_system
    (
        choose_system "$other"
        if [ ! -f "$keyring" ]; then
            echo "this system has the keys of neither Debian nor Ubuntu" >&2
            exit 1
        fi
        # With an apt of its own, and one after the other: several may be fetching at once.
        folder=$systems_folder/keyrings
        mkdir -p "$folder" && cd "$folder" && exec 8>lock && flock 8
        system_apt get update && system_apt get download "$package" && dpkg-deb -x "$package"_*.deb .
    )
}
