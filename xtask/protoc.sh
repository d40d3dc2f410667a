#!/bin/sh
# The protoc that etcd-client's build script calls: the one on the path if there is one, else a vendored one,
# built once into its own target folder so that it never waits for the lock of the build that called it.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
if found=$(command -v protoc 2>/dev/null); then
    exec "$found" "$@"
fi
target=$(dirname -- "$here")/target/protoc
stamp=$target/path

# What the calling build was told about wrappers, flags and targets is not meant for this one. Calls at the same
# time wait for each other in cargo, and each then writes the same path.
vendored() {
    env -u CARGO_TARGET_DIR -u CARGO_BUILD_TARGET_DIR -u CARGO_BUILD_TARGET -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS \
        -u RUSTC -u RUSTC_WRAPPER -u RUSTC_WORKSPACE_WRAPPER -u MAKEFLAGS -u CARGO_MAKEFLAGS \
        "${CARGO:-cargo}" run --quiet --locked --manifest-path "$here/protoc/Cargo.toml" --target-dir "$target"
}

if [ ! -s "$stamp" ] || [ ! -x "$(cat "$stamp")" ]; then
    mkdir -p "$target"
    path=$(vendored) || path=
    if [ ! -x "$path" ]; then
        echo "protoc.sh: no protoc on the path, and the vendored one (crate protoc-bin-vendored) cannot be built" \
            "or does not exist for this machine; install protoc or set PROTOC" >&2
        exit 1
    fi
    printf '%s' "$path" > "$stamp.$$"
    mv "$stamp.$$" "$stamp"
fi
exec "$(cat "$stamp")" "$@"
