# The program alone: a static binary, the certificate authorities, and no other file.
#
#   docker build --tag smgate .
#   docker run --rm --volume "$PWD:/work:ro" smgate check 'dist/*.whl'
#   docker save app | docker run --rm --interactive --volume "$PWD:/work:ro" smgate check -
#
# Alpine's Rust builds for musl, which is linked statically; on an ARM machine, or with `--platform linux/arm64`,
# the same lines give the image for ARM.
FROM rust:1.95-alpine AS build

# zstd and ring are partly C. Versions are those of the image, which Alpine replaces
# hadolint ignore=DL3018
RUN apk add --no-cache build-base ca-certificates

WORKDIR /source
COPY . .
RUN cargo build --release --locked

# what the image holds: archives inside archives are spooled to /tmp, results are kept in /cache
RUN mkdir -p /out/etc/ssl/certs /out/licenses /out/work /out/tmp /out/cache \
 && chmod 1777 /out/tmp /out/cache \
 && cp target/release/smgate /out/ \
 && cp LICENSE-MIT LICENSE-APACHE /out/licenses/ \
 && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/

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
