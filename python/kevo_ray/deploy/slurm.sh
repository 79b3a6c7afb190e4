#!/usr/bin/env bash
# Replicas of kevo on the nodes of a Slurm job, one GPU each, and on its first node the service that keeps the record.
#   sbatch --nodes=3 --gpus-per-node=4 --cpus-per-task=32 slurm.sh TASKS RECORD TOKENS [SETTING...]
# TASKS is on a shared file system; RECORD is a folder on a local disk that is there again when the job is started again; TOKENS is the
# file of tenants for --tokens. SETTINGs are those of the fitness function, such as fitness.backend=cuda.
#SBATCH --job-name=kevo
#SBATCH --ntasks-per-node=1
#SBATCH --no-kill
set -euo pipefail

if [[ $# -lt 3 ]]; then
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
tasks=$1 record=$2 tokens=$3
shift 3
settings=()
for one in "$@"; do settings+=(--set "$one"); done

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
# Ray asks the name server for each name, and does not start where that does not answer: it gets an address.
address=$(getent ahostsv4 "$(scontrol show node "$head" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')" | awk '$1 !~ /^127\./ {print $1}' | head -n 1) || true
address=${address:-$(hostname -I | cut -d ' ' -f 1)}  # this is the first node
nodes=$SLURM_JOB_NUM_NODES
gpus=${SLURM_GPUS_ON_NODE:-0}
replicas=$((gpus > 0 ? nodes * gpus : nodes))
per_replica=(--cpus 1)
if ((gpus > 0)); then per_replica+=(--gpus 1); else per_replica+=(--per-node 1); fi
export ray_port=${KEVO_RAY_PORT:-6379} ray_head=$address
port=${KEVO_PORT:-8750} between=${KEVO_BETWEEN_PORT:-8000}

# A token between the service and the replicas, which only this user reads.
secret=$(umask 077 && mktemp "$HOME/.kevo-ray.XXXXXX")
trap 'rm -f "$secret"; kill $(jobs -p) 2>/dev/null' EXIT
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$secret"

# Each loop starts again what ended: Ray on each node (it ends on a node that lost the head), the replicas, the service. Ray gets the GPUs
# and processors that the job has of a node; a replica counts as one processor. Since Slurm 22.05 srun must be told the number of
# processors of a task.
per_task=()
if [[ -n ${SLURM_CPUS_PER_TASK:-} ]]; then per_task=(--cpus-per-task "$SLURM_CPUS_PER_TASK"); fi
# shellcheck disable=SC2016  # the variables are those of the nodes
srun --no-kill --kill-on-bad-exit=0 "${per_task[@]}" bash -c '
  gpus=${SLURM_GPUS_ON_NODE:-0}
  has=(--num-gpus="$gpus" --num-cpus=$((SLURM_CPUS_ON_NODE > gpus ? SLURM_CPUS_ON_NODE : gpus)))
  while :; do
    if [[ $SLURM_NODEID == 0 ]]; then
      ray start --head --block --node-ip-address="$ray_head" --port="$ray_port" "${has[@]}" || true
    else
      ray start --block --address="$ray_head:$ray_port" "${has[@]}" || true
    fi
    sleep 3
  done' &
while :; do
  kevo-ray "$tasks" --address "$address:$ray_port" --port "$between" --replicas "$replicas" "${per_replica[@]}" --token-file "$secret" \
    "${settings[@]}" || true
  sleep 3
done &
while :; do
  kevo serve "$tasks" --state "$record" --listen "0.0.0.0:$port" --tokens "$tokens" --forward "http://127.0.0.1:$between" \
    --forward-token "$secret" --at-once $((2 * replicas)) || true
  sleep 3
done
