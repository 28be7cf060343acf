#!/bin/bash
# Starts three image servers, Redis, an S3 store if moto is installed, and a balancer, all on loopback; ctrl-C ends them.
#
#   Examples/Fleet/fleet.sh [--haproxy] [--redis]
#
# --haproxy takes HAProxy for nginx, --redis keeps results in Redis also where there is moto (pip install 'moto[s3,server]').
# PORT=9000 is another port than 8080 for the balancer; the next five are those of the others. SERVER=file is a
# kf-server that has been built. The servers show images of the folder docs.
set -eu -o pipefail
cd "$(dirname "$0")"
here=$PWD root=$(cd ../.. && pwd)
port=${PORT:-8080} balancer=nginx store=s3
for argument; do
    case "$argument" in
        --haproxy) balancer=haproxy ;;
        --redis) store=redis ;;
        *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
python3 -c "import moto.server" 2>/dev/null || store=redis
for program in redis-server "$balancer"; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "fleet: $program is missing: Scripts/install-dependencies fleet" >&2; exit 1; }
done
PATH=$PATH:/usr/sbin
if [ -z "${SERVER:-}" ]; then
    "$root/Scripts/fetch-packages" Server
    swift build -c release --package-path "$root/Server" --scratch-path "$root/.build" --product kf-server
    SERVER=$(swift build -c release --package-path "$root/Server" --scratch-path "$root/.build" --show-bin-path)/kf-server
fi

work=$(mktemp -d)
pids=()
end() {
    trap - EXIT
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 0' INT TERM

# Starts a program, and waits until it responds at a port.
start() {
    local port=$1; shift
    "$@" &
    pids+=($!)
    for _ in {1..300}; do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    echo "fleet: $1 does not listen at port $port" >&2
    exit 1
}

redis=redis://127.0.0.1:$((port + 4))
start $((port + 4)) redis-server --bind 127.0.0.1 --port $((port + 4)) --dir "$work" --save "" --logfile "$work/redis.log" \
    --maxmemory 256mb --maxmemory-policy allkeys-lru
export KF_TIER=$redis
if [ $store = s3 ]; then
    start $((port + 5)) python3 -c "from moto.server import main; main()" -H 127.0.0.1 -p $((port + 5)) 2>"$work/moto.log"
    curl --silent --fail --noproxy '*' -X PUT --output /dev/null "http://127.0.0.1:$((port + 5))/images"
    export KF_TIER="s3://images/results?endpoint=http://127.0.0.1:$((port + 5))" KF_LEASES=$redis
    export AWS_ACCESS_KEY_ID=example AWS_SECRET_ACCESS_KEY=example NO_PROXY=127.0.0.1
fi

export KF_PURGE_TOKEN=let-me-purge KF_LOCAL_FILESYSTEM_ROOT=$root/docs KF_LOG_LEVEL=warning
for number in 1 2 3; do
    export KF_BIND=127.0.0.1:$((port + number)) XDG_CACHE_HOME=$work/$number
    start $((port + number)) "$SERVER" serve
done

mkdir "$work/temp"
addresses=()
for number in 0 1 2 3; do addresses+=(-e "s/127.0.0.1:808$number/127.0.0.1:$((port + number))/"); done
if [ $balancer = nginx ]; then
    sed "${addresses[@]}" nginx.conf >"$work/nginx.conf"
    [ "$(id -u)" -ne 0 ] || echo "user root;" >>"$work/nginx.conf"
    start "$port" nginx -p "$work" -c nginx.conf -e stderr
else
    sed "${addresses[@]}" haproxy.cfg >"$work/haproxy.cfg"
    start "$port" haproxy -f "$work/haproxy.cfg"
fi

cat <<END
fleet: $balancer at port $port, servers at $((port + 1)) to $((port + 3)), results in $store, leases in Redis. Try
  curl -o small.webp http://127.0.0.1:$port/_/rs:fill:300:200/plain/local:///gallery.jpg@webp
  curl -s http://127.0.0.1:$((port + 1))/metrics | grep -E 'kf_(tier|results)_total'
  curl -d '{"source": "local:///gallery.jpg"}' -H 'Authorization: Bearer $KF_PURGE_TOKEN' http://127.0.0.1:$port/purge
fleet: ctrl-C ends all of it
END
wait
