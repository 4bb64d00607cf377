#!/usr/bin/env bash
# The first process of the lab, in namespaces of its own (lab.py): an overlay of the root file system, so that nothing of
# the host changes, with the folders that are named bound into it; then the head of the cluster.
#   enter.sh CONFIGURATION FOLDER...      (the first FOLDER gets the file `ready`)
set -euo pipefail
configuration=$1
shift

mount --make-rprivate /
layers=$(mktemp -d)
mount -t tmpfs tmpfs "$layers"
mkdir "$layers/upper" "$layers/work" "$layers/root"
root=$layers/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys" # slurmd wants its cgroups even where it uses none
mount -t tmpfs tmpfs "$root/tmp"
for folder in "$configuration" "$@"; do
  mkdir -p "$root$folder"
  mount --rbind "$folder" "$root$folder"
done
exec chroot "$root" bash "$configuration/head.sh" "$configuration" "$1"
