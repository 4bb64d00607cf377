#!/usr/bin/env bash
# Inside the lab: munge, slurmctld and a bridge on the head, then the nodes; waits until the lab is ended.
set -euo pipefail
configuration=$1
state=/var/lib/lab

hostname head
rm -rf "$state"
mkdir -p "$state/slurmctld" "$state/dev" /etc/slurm /run/munge /var/log/munge /var/lib/munge /etc/munge /run/netns
mount -t tmpfs tmpfs /run/netns
for number in 0 1 2 3; do mknod "$state/dev/gpu$number" c 1 3; done
mkdir -p "$2/small"
mount -t tmpfs -o size=2m tmpfs "$2/small" # a disk that is soon full
ip link set lo up
ip link add br0 type bridge
ip addr add 10.77.0.1/24 dev br0
ip link set br0 up
{
  printf '127.0.0.1 localhost\n10.77.0.1 head\n'
  for number in 1 2 3 4; do printf '10.77.0.1%d n%d\n' "$number" "$number"; done
} >/etc/hosts
cp "$configuration/slurm.conf" "$configuration/gres.conf" /etc/slurm/
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then plugin=autodetect; else plugin=cgroup/v1; fi
printf 'CgroupPlugin=%s\nCgroupAutomount=no\n' "$plugin" >/etc/slurm/cgroup.conf
[ -s /etc/munge/munge.key ] || mungekey -c -f
chown -R munge:munge /run/munge /var/log/munge /var/lib/munge /etc/munge
chmod 755 /run/munge
chmod 700 /etc/munge /var/log/munge
runuser -u munge -- munged --force
slurmctld
for number in 1 2 3 4; do bash "$configuration/node.sh" up "$number"; done
for _ in $(seq 100); do
  if [ "$(sinfo -h -p low -t idle -o %D)" = 4 ]; then
    touch "$2/ready"
    break
  fi
  sleep 0.2
done
exec sleep infinity
