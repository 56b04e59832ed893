# Sourced by the scripts beside it: installs Debian packages, as root or through sudo, and says so.

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "cannot install packages: run this as root, or install sudo" >&2
        return 1
    fi
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# packages_install NAME...: installs those that are missing.
packages_install() {
    local name missing=()
    if ! command -v apt-get >/dev/null; then
        echo "this is not Debian or Ubuntu: install the like of these yourself: $*" >&2
        return 0
    fi
    for name in "$@"; do
        installed "$name" || missing+=("$name")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        echo "Packages: all there ($*)"
        return 0
    fi
    echo "Installing Debian packages: ${missing[*]}"
    # a package list that is partly out of reach may still have what is needed
    as_root apt-get update -qq || echo "apt-get update failed; going on with the lists there are" >&2
    as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# need_cmake: 3.25 or newer, which Debian 12 and Ubuntu 24.04 have.
need_cmake() {
    local version
    version=$(cmake --version | sed -n 's/^cmake version //p')
    if [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -1)" != 3.25 ]; then
        echo "cmake $version is too old: 3.25 is needed (Debian 12, Ubuntu 24.04 or newer)" >&2
        return 1
    fi
}

# What a build needs.
build_packages=(gcc make cmake pkg-config libc6-dev libjansson-dev libnng-dev libsqlite3-dev libconfig-dev)
