# The program alone: a static binary, the certificate authorities, and no other file.
#
#   docker build --tag smgate .
#   docker run --rm --volume "$PWD:/work:ro" smgate check 'dist/*.whl'
#   docker save app | docker run --rm --interactive --volume "$PWD:/work:ro" smgate check -
#
# Alpine's Rust builds for musl, which is linked statically; on an ARM machine, or with `--platform linux/arm64`,
# the same lines give the image for ARM.
FROM rust:1.95-alpine AS build

# zstd and ring are partly C
RUN apk add --no-cache build-base ca-certificates

WORKDIR /source
COPY . .
RUN cargo build --release --locked

# what the image holds: archives inside archives are spooled to /tmp, results are kept in /cache
RUN install -D -m 0755 target/release/smgate /out/smgate \
 && install -D -m 0644 /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ca-certificates.crt \
 && install -D -m 0644 -t /out/licenses LICENSE-MIT LICENSE-APACHE \
 && install -d -m 1777 /out/tmp /out/cache \
 && install -d -m 0755 /out/work

FROM scratch

ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="smgate" \
      org.opencontainers.image.description="Will the CUDA code in this wheel, package or image run on the GPUs and drivers it is going to?" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

COPY --from=build /out/ /
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    SMGATE_CACHE_DIR=/cache
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/smgate"]
CMD ["--help"]
