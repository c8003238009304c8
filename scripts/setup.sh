#!/usr/bin/env bash
# Brings a Debian or Ubuntu machine to where che builds, and builds it. Idempotent: what is there is
# not fetched again, and a call with nothing to do takes a moment.
#   scripts/setup.sh [preset [target ...]]     (default: release, in build/, all of it)
# `scripts/setup.sh cuda` builds the program and its CUDA kernels in build-cuda/; it needs nvcc of CUDA 13.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
targets=("${@:2}")
presets=$(sed -n '/"configurePresets"/,/"buildPresets"/{/"hidden"/d; s/.*"name": "\([a-z]*\)".*/\1/p}' CMakePresets.json)
if ! grep -qxF -- "$preset" <<< "$presets"; then
  echo "setup: there is no preset '$preset'; known: ${presets//$'\n'/, }" >&2
  exit 2
fi

# 1. Debian packages.
installed=$(dpkg-query -W -f='${Package} ${Status}\n' | awk '/install ok installed$/ {print $1}')
mapfile -t missing < <(grep -vxFf <(echo "$installed") scripts/packages.txt || true)
if ((${#missing[@]})); then
  install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if ((EUID == 0)); then
    as_root=(env DEBIAN_FRONTEND=noninteractive)
  elif sudo -n true 2>/dev/null; then
    as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
  else
    echo "setup: these packages are missing and installing them needs root; run" >&2
    echo "  sudo apt-get update && sudo ${install[*]}" >&2
    echo "and then this script again." >&2
    exit 2
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" "${install[@]}" -qq > /dev/null
fi

# 2. LibTorch, unless Torch_DIR or CMAKE_PREFIX_PATH names one: the CPU libraries of the PyTorch
#    wheel, and the two small CUDA libraries they name.
torch_version=2.11.0
torch_home=${XDG_CACHE_HOME:-$HOME/.cache}/che/torch-$torch_version
torch_given=
IFS=':;' read -r -a places <<< "${CMAKE_PREFIX_PATH:-}"
for place in "${Torch_DIR:-}" "${places[@]/%//share/cmake/Torch}"; do
  [[ -n $place && -e $place/TorchConfig.cmake ]] && torch_given=$place
done
if [[ $preset != light && $preset != asan && $preset != tsan && -z $torch_given && ! -e $torch_home/.complete ]]; then
  echo "setup: fetching LibTorch $torch_version into $torch_home (1.3 GB, once)"
  rm -rf "$torch_home" "$torch_home.part"
  mkdir -p "$torch_home.part"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$torch_home.part" torch==$torch_version nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
  touch "$torch_home.part/.complete"
  mv "$torch_home.part" "$torch_home"
fi

# 3. For GPUs: what LibTorch's CUDA libraries load, beside them, and nvcc.
if [[ $preset == cuda ]]; then
  if ! command -v nvcc > /dev/null; then
    if [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
      echo "setup: nvcc is missing; install CUDA 13's toolkit (https://developer.nvidia.com/cuda-downloads)," >&2
      echo "or have its nvcc on the PATH, and run this script again." >&2
      exit 2
    fi
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
  if ! "${CUDACXX:-nvcc}" --version | grep -q 'release 13\.'; then
    echo "setup: LibTorch $torch_version needs nvcc of CUDA 13; this is:" >&2
    "${CUDACXX:-nvcc}" --version >&2
    exit 2
  fi
  if [[ -z $torch_given && ! -e $torch_home/.cuda ]]; then
    echo "setup: fetching the CUDA libraries of LibTorch $torch_version into $torch_home (1.7 GB, once)"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
      --target "$torch_home" --upgrade nvidia-cublas==13.1.0.3 nvidia-cudnn-cu13==9.19.0.56 nvidia-cufft==12.0.0.61 \
      nvidia-nccl-cu13==2.28.9 nvidia-cusparselt-cu13==0.8.0 nvidia-cusparse==12.6.3.3 nvidia-nvshmem-cu13==3.4.5 \
      nvidia-curand==10.4.0.35 nvidia-nvjitlink==13.0.88 nvidia-cufile==1.15.1.6 nvidia-cuda-runtime==13.0.96 \
      nvidia-cuda-cupti==13.0.85
    touch "$torch_home/.cuda"
  fi
fi

# 4. Configure and build.
folder=build
[[ $preset == release ]] || folder=build-$preset
werror=OFF  # CHE_WERROR=1 in the environment makes warnings errors.
[[ -z ${CHE_WERROR:-} ]] || werror=ON
if [[ ! -e $folder/build.ninja ]] || ! grep -q "^CHE_WERROR:BOOL=$werror" "$folder/CMakeCache.txt"; then
  echo "setup: configuring $folder"
  mkdir -p "$folder"
  cmake --preset "$preset" -DCHE_WERROR=$werror > "$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log" >&2; exit 1; }
fi
echo "setup: building ${targets[*]:-everything} in $folder"
# A terminal sees ninja's progress, a log a line for every tenth and what the compiler says.
show_progress() {
  local line tenth last=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      ((tenth == last)) || echo "setup: built ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} files"
      last=$tenth
    elif [[ $line != "ninja: no work to do." ]]; then
      echo "$line"
    fi
  done
}
if [[ -t 1 ]]; then
  cmake --build "$folder" -- "${targets[@]}"
else
  cmake --build "$folder" -- "${targets[@]}" | show_progress
fi
