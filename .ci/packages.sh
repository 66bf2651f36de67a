# Sourced by the scripts that set a machine up: `feedline_install_packages GROUP...`.
#
# Groups, by what they are for; the names are the same on Debian 12 and 13 and Ubuntu 24.04
# (but Debian 12 has no libblosc2, Debian 13 no clang 14):
#   build    compiler, CMake and the libraries that feedline is built from
#   samples  what the samples use besides
#   tests    the test framework, what the benchmarks write their results with, pkg-config; and
#            liblzo2, which is under the GPL, for builds with FEEDLINE_GPL; spin and tcc, which
#            check the model of the protocol; git, for a project that fetches feedline
#   checks   clang 14 (a second compiler, libFuzzer), clang-format 14 and clang-tidy 14: the
#            versions are named so that a check gives the same answer everywhere; doxygen for the
#            reference; ccache; python3 for the test of prose
#   python   Python's headers and virtual environments, for tests/python.sh
#   coverage gcovr, for tests/coverage.sh
#   wheels   what the libraries of wheels are made with besides (.ci/wheel-libraries)
#   interpreter  what Python is compiled with (tests/packages/make_python.sh)
#   debs     what Debian packages are made and checked with
#
# Says nothing when nothing is missing. Works as root or through sudo.

feedline_packages_of() {
  case $1 in
    build)
      echo "g++ cmake ninja-build libboost-dev libhdf5-dev libspdlog-dev zlib1g-dev"
      echo "libdeflate-dev liblz4-dev libzstd-dev libblosc-dev libaec-dev libzip-dev" \
        "libjpeg-dev libpng-dev libwebp-dev libtiff-dev libpugixml-dev" \
        "nlohmann-json3-dev libbz2-dev libzfp-dev libcurl4-openssl-dev"
      # Debian 12 has none.
      if [[ $(. /etc/os-release && echo "${VERSION_CODENAME:-}") != bookworm ]]; then
        echo libblosc2-dev
      fi
      ;;
    samples) echo "libeigen3-dev libcli11-dev" ;;
    tests)
      echo "catch2 libhdf5-dev nlohmann-json3-dev zlib1g-dev liblzo2-dev pkgconf spin tcc git"
      ;;
    python) echo "python3-dev python3-venv" ;;
    coverage) echo "gcovr" ;;
    wheels) echo "nasm dpkg-dev unzip debootstrap" ;;
    interpreter) echo "gcc libc6-dev make libffi-dev zlib1g-dev libssl-dev xz-utils" ;;
    debs) echo "libcli11-dev dpkg-dev file lintian" ;;
    checks)
      echo "clang-14 libclang-rt-14-dev lld-14 clang-format-14 clang-tidy-14 doxygen ccache" \
        "python3"
      ;;
    *)
      echo "feedline_install_packages: no group '$1'; there are build, samples, tests, checks," \
        "python, coverage, debs, wheels, interpreter" >&2
      return 1
      ;;
  esac
}

feedline_package_is_installed() {
  local state
  # Two letters: what is wanted (i: installed, h: held as it is), then what there is.
  state=$(dpkg-query --show --showformat='${db:Status-Abbrev}\n' "$1" 2>/dev/null) || return 1
  [[ $state == [ih]i* ]]
}

feedline_install_packages() {
  local group package
  local -a missing=() names=() as_root=()
  for group in "$@"; do
    names+=("$(feedline_packages_of "$group")") || return 1
  done

  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: this is no Debian or Ubuntu (there is no apt); install by other means:" \
      "${names[*]}," >&2
    echo "packages: then build with CMake by hand (README.md, 'Using it from CMake')" >&2
    return 1
  fi
  for package in ${names[*]}; do
    if ! feedline_package_is_installed "$package" && [[ " ${missing[*]} " != *" $package "* ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then return 0; fi

  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "packages: missing: ${missing[*]}" >&2
      echo "packages: this is not root, and there is no sudo; as root, run: apt-get install" \
        "${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet --yes
    -o Dpkg::Use-Pty=0 -o Acquire::Retries=3)

  echo "packages: missing are ${#missing[@]}: ${missing[*]}"
  echo "packages: asking for the lists of packages (apt-get update)"
  if ! "${as_root[@]}" update; then
    echo "packages: 'apt-get update' failed; see its words above (no network? a wrong line in" >&2
    echo "packages: /etc/apt/sources.list?), mend that and run this again" >&2
    return 1
  fi
  echo "packages: installing them and what they need (apt-get install); with a bare system that is"
  echo "packages: some 900 MB on the disk, and takes one to ten minutes by network and machine"
  local began=$SECONDS
  if ! "${as_root[@]}" install --no-install-recommends "${missing[@]}" >/dev/null; then
    echo "packages: 'apt-get install ${missing[*]}' failed; see its words above." >&2
    echo "packages: Needed is Debian 12 or 13 or Ubuntu 24.04 (on Ubuntu with 'universe'" \
      "enabled)" >&2
    return 1
  fi
  echo "packages: installed in $((SECONDS - began)) s"
}
