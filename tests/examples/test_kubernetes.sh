#!/usr/bin/env bash
# Checks examples/cluster/kubernetes.yaml against the schema of Kubernetes, with kubernetes-validate from a package index.
#   test_kubernetes.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source=$(realpath "$1")
environment=$2/kubernetes-venv
[[ -x $environment/bin/kubernetes-validate ]] || {
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate
}
"$environment/bin/kubernetes-validate" --strict "$source/examples/cluster/kubernetes.yaml"
