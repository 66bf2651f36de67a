#!/usr/bin/env bash
# make_debs.sh FOLDER: makes the Debian packages by the commands of docs/guide/installing.md, looks
# at what they say, and leaves them in FOLDER. Installs what that needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. .ci/packages.sh
. tests/packages/page.sh
folder=$(readlink -f "$1")

fail() {
  echo "make_debs.sh: $*" >&2
  exit 1
}
feedline_install_packages build debs
rm -rf build/deb build/debs/*.deb
commands=$(page_commands "Packages for Debian and Ubuntu" | grep '^cmake')
bash -exc "$commands"

version=$feedline_version
major=${version%%.*}
for package in "libfeedline$major" libfeedline-dev feedline-tools; do
  file=$(echo build/debs/"$package"_"$version"-1~*.deb)
  [[ -e $file ]] || fail "there is no package $package of version $version in build/debs"
  dpkg-deb --info "$file"
  dpkg-deb --contents "$file"
  field=$(dpkg-deb --field "$file" Depends)
  if [[ $package != libfeedline$major ]]; then
    [[ $field == *"libfeedline$major (= $version-1~"* ]] ||
      fail "$package must depend on exactly its library, and depends on $field"
  else
    [[ $field == *libc6* && $field == *libhdf5* && $field == *libspdlog* ]] ||
      fail "the libraries are not found in what $package depends on: $field"
    dpkg-deb --control "$file" build/debs/control
    grep -q "^libfeedline_core $major\.[0-9]* libfeedline$major (>= $version), .*<<" \
      build/debs/control/shlibs || fail "shlibs of $package are wrong"
    rm -r build/debs/control
  fi
done

# The address of the maintainers is an example. The programs say all by --help. A package of several
# libraries cannot have the name of one. CPack's ldconfig comes on top of the trigger's. "deflate 1
# to 9" in a help text is taken for a copy of zlib.
lintian --allow-root --fail-on error,warning --suppress-tags bogus-mail-host,no-manual-page,\
package-name-doesnt-match-sonames,maintscript-calls-ldconfig,embedded-library build/debs/*.deb
cp build/debs/*.deb "$folder"
