#!/bin/sh
# The monthly job: run.sh DATE adds and builds a new snapshot; docs/monthly.md. After a failure run it again.
set -eu
cd "$(dirname "$0")/../../.."
export PATH="$PWD/.venv/bin:$PATH" SNAKEMAKE_PROFILE=workflow/profiles/monthly
isotope snapshot "$1"
dvc repro
git add params.yaml dvc.lock
git diff --cached --quiet || git commit --quiet --message "Snapshot $1"
test -z "$(dvc remote list)" || dvc push
dvc metrics diff HEAD~
mkdir -p logs/monthly
dvc plots diff HEAD~ --out logs/monthly
