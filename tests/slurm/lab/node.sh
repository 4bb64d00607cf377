#!/usr/bin/env bash
# node.sh up|crash|cut|join NUMBER: starts a node; ends it as a power failure does; takes it off the network, and back.
set -euo pipefail
node=n$2
link=ve$2
state=/var/lib/lab
namespace=/run/netns/$node

case $1 in
  up)
    mkdir -p "$state/spool.$node"
    touch "$namespace"
    unshare --net="$namespace" true
    ip link add "$link" type veth peer name eth0
    ip link set eth0 netns "$node"
    ip link set "$link" master br0 up
    nsenter --net="$namespace" bash -c "ip addr add 10.77.0.1$2/24 dev eth0; ip link set eth0 up; ip link set lo up"
    # own host name, /dev/shm and /var/tmp: without them Open MPI takes two nodes for one
    nsenter --net="$namespace" unshare -u -i -m -p -f --kill-child --propagation private bash -c "
      mount -t proc proc /proc; mount -t tmpfs tmpfs /dev/shm; mount -t tmpfs tmpfs /var/tmp
      hostname $node; exec slurmd -D -N $node" >/dev/null 2>&1 &
    echo "$!" >"$state/node.$node.pid"
    ;;
  crash)
    kill -9 "$(cat "$state/node.$node.pid")"
    ip link del "$link"
    umount "$namespace"
    rm "$namespace"
    ;;
  cut) ip link set "$link" down ;;
  join) ip link set "$link" up ;;
esac
