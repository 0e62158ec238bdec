#!/bin/sh
# The training proof: rows, training, and both evaluations. A step whose result is there is not
# repeated, so that the same command goes on after an interruption. About two hours on two cores.
#
#   sh examples/training/proof.sh [FOLDER]     needs uv; ROWS, THREADS and SYNTH may be set
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/proof} rows=${ROWS:-320} threads=${THREADS:-2} synth=${SYNTH:-synth} port=${PORT:-8900}
trained=room_price,room_beds,room_state,guest_room,guest_leaves,mark_clean,mark_dirty,change_price,stay_longer,clean_guest_room
wordings=room_price_reworded,guest_room_reworded,mark_clean_reworded,stay_longer_reworded
families=room_floor,guest_phone,block_room,price_for_guest,change_room
export HF_HUB_OFFLINE=1
mkdir -p "$out"

python=$out/venv/bin/python
if [ ! -e "$out/venv/ready" ]; then
    uv venv -q --allow-existing "$out/venv"
    uv pip install -q --python "$python" -r "$here/requirements.txt"
    touch "$out/venv/ready"
fi
if [ ! -e "$out/rows.parquet" ]; then
    [ -d "$out/rows" ] || $synth run env.path="$here/hotel" tasks.count=2000 tasks.universes=64 \
        "tasks.families=[$trained]" seed=1 runtime=inline output.dir="$out/rows"
    $synth export "$out/rows" --to trl-sft --template "$here/template.jinja" --out "$out/rows.parquet"
fi
[ -e "$out/model/config.json" ] ||
    "$python" "$here/train.py" "$out/rows.parquet" "$out/model" --rows "$rows" --threads "$threads"

server=
trap '[ -z "$server" ] || kill "$server"' EXIT
evaluate() { # NAME [MODEL]
    name=$1
    shift
    "$python" "$here/serve.py" "$@" --port "$port" --threads "$threads" >"$out/$name.log" 2>&1 &
    server=$!
    until grep -q http: "$out/$name.log"; do
        kill -0 "$server" || { cat "$out/$name.log"; exit 1; }
        sleep 1
    done
    for set in trained wordings families; do
        eval "chosen=\$$set"
        [ -e "$out/$name/$set/eval.json" ] || $synth eval "$here/hotel" --families "$chosen" \
            --universes 100-102 --tasks 30 --seed 3 --out "$out/$name/$set" \
            --model "$name" --base-url "http://127.0.0.1:$port/v1" model.temperature=0 preflight=false \
            agent.text_calls=parse agent.max_turns=5 runtime=inline runtime.concurrency=1
    done
    kill "$server"
    wait "$server" || true
    server=
}
evaluate smollm2
evaluate smollm2-trained "$out/model"
for set in trained wordings families; do
    $synth eval --compare "$out/smollm2/$set" "$out/smollm2-trained/$set" --out "$out/lift/$set"
done
