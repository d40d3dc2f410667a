#!/bin/sh
# The protoc that etcd-client's build script calls: the one on the path if there is one, else a vendored one,
# built once into its own target folder so that it never waits for the lock of the build that called it.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
if found=$(command -v protoc 2>/dev/null); then
    exec "$found" "$@"
fi
root=$(dirname -- "$here")
stamp="$root/target/protoc/path"
if [ ! -s "$stamp" ] || [ ! -x "$(cat "$stamp")" ]; then
    mkdir -p "$root/target/protoc"
    path=$(env -u CARGO_TARGET_DIR -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u RUSTC_WRAPPER -u CARGO_BUILD_TARGET \
        cargo run --quiet --locked --manifest-path "$here/protoc/Cargo.toml" --target-dir "$root/target/protoc") || {
        echo "protoc.sh: no protoc on the path and the vendored one (crate protoc-bin-vendored) could not be built; install protoc or set PROTOC" >&2
        exit 1
    }
    printf '%s' "$path" > "$stamp.$$"
    mv "$stamp.$$" "$stamp"
fi
exec "$(cat "$stamp")" "$@"
