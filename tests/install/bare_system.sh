#!/usr/bin/env bash
# Installs a Debian package of kevo on a bare system, runs a search there and removes the package again:
#   bare_system.sh PACKAGE.deb bookworm [http://deb.debian.org/debian]
#   bare_system.sh PACKAGE.deb noble https://archive.ubuntu.com/ubuntu
# Needs root, debootstrap, and a network for the packages that kevo depends on. The kernel is that of this machine. KEVO_ROOT names a folder
# that keeps the system from one call to the next.
set -euo pipefail
package=$(realpath "$1")
suite=$2
mirror=${3:-http://deb.debian.org/debian}
root=${KEVO_ROOT:-$(mktemp -d)}
if [[ -z ${KEVO_ROOT:-} ]]; then trap 'rm -rf --one-file-system "$root"' EXIT; fi
if [[ ! -e $root/etc/os-release ]]; then
  # A debootstrap that is older than the suite does not know it by name, and may not have its keys; then the mirror has to be one of TLS.
  options=(--variant=minbase)
  if [[ ! -e /usr/share/keyrings/ubuntu-archive-keyring.gpg && $mirror == https:*ubuntu* ]]; then options+=(--no-check-gpg); fi
  script=()
  if [[ ! -e /usr/share/debootstrap/scripts/$suite ]]; then script=(/usr/share/debootstrap/scripts/gutsy); fi
  debootstrap "${options[@]}" "$suite" "$root" "$mirror" "${script[@]}" >"$root.log"
  echo "deb ${mirror/https:/http:} $suite main" >"$root/etc/apt/sources.list"  # signed; a bare system has no certificates
fi
cp "$package" "$root/root/kevo.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# The system becomes the root of a mount namespace: in a chroot there are no user namespaces, which the sandbox needs.
unshare --mount --pid --fork --propagation private bash -e -s "$root" <<'ENTER'
root=$1
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir -p "$root/dev/shm" "$root/.old"
mount -t tmpfs tmpfs "$root/dev/shm"
cd "$root"
pivot_root . .old
cd /
umount -l /.old
exec /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -e <<'INSIDE'
. /etc/os-release
echo "== $PRETTY_NAME, $(dpkg -l | grep -c ^ii) packages"
apt-get update -qq
apt-get install -y -qq --no-install-recommends /root/kevo.deb >/root/apt.log 2>&1 || { cat /root/apt.log; exit 1; }
echo "== with kevo: $(dpkg -l | grep -c ^ii) packages"
kevo version
kevo doctor | grep -E 'sandbox|compiler'
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"
kevo run /usr/share/kevo/configs/quickstart.yaml --plain --set run.output="$work/quick" --set 'stop={seconds: 20}' | tail -n 4
kevo init my_kernel >/dev/null
kevo task check my_kernel/task.yaml | tail -n 1
cd /
rm -r "$work"
apt-get purge -y -qq kevo >/root/purge.log 2>&1
left=$(find / -xdev \( -path /proc -o -path /root -o -path /tmp \) -prune -o -iname '*kevo*' -print)
[[ -z $left ]] || { echo "left after its removal: $left" >&2; exit 1; }
echo "== removed"
INSIDE
ENTER
