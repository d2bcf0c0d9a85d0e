#!/usr/bin/env bash
# The GitHub Action, all of it: installs smgate, runs `smgate check`, and hands on what it says. Its inputs come as
# SMGATE_ACTION_NAME (see action.yml), what runners say of themselves as GITHUB_* and RUNNER_*.
#
# For the bash of every runner: 3.2 of macOS and that of Git for Windows. No input is ever evaluated, expanded by the
# shell or printed where a workflow command could begin.
set -euo pipefail
# where `cd` may not look, and one stream, so that what others print stays between the commands around it
unset CDPATH
exec 2>&1

# What runners cut summaries at.
readonly summary_limit=1048576

# --- what the runner reads ---------------------------------------------------------------------------------------

# A word that nobody can guess.
random_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# The message of a workflow command.
escaped() {
  local text=$1
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '%s' "$text"
}

# From here on nothing that is printed is a workflow command, until `speak` prints that word.
word=
hush() {
  word=$(random_word)
  printf '::stop-commands::%s\n' "$word"
}
speak() {
  if [ -n "$word" ]; then printf '\n::%s::\n' "$word"; fi
  word=
}

# An output of the step: name, value. Whatever the value holds, it stays one value.
output() {
  local end
  end=smgate_$(random_word)
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"${GITHUB_OUTPUT:-/dev/null}"
}

# Ends where nothing could be judged: what is wrong, what to do.
die() {
  speak
  printf '::error title=smgate::%s\n' "$(escaped "$1
next: $2")"
  exit 2
}

# Whatever ends this script, the outputs that are always there are written.
told=
# shellcheck disable=SC2317 # the trap calls it
finish() {
  local status=$?
  speak
  if [ -z "$told" ]; then
    output verdict error
    output exit-code 2
    if [ "$status" = 0 ]; then status=2; fi
  fi
  exit "$status"
}
trap finish EXIT

# --- inputs ------------------------------------------------------------------------------------------------------

# Sets `lines` to the lines of a text, without blanks around them and without empty ones.
split_lines() {
  local line
  lines=()
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line#"${line%%[![:space:]]*}"}
    line=${line%"${line##*[![:space:]]}"}
    if [ -n "$line" ]; then lines+=("$line"); fi
  done <<<"$1"
}

# The value of an input, without blanks around it; it must be one line.
input() {
  local name=SMGATE_ACTION_$1
  split_lines "${!name:-}"
  case ${#lines[@]} in
    0) value= ;;
    1) value=${lines[0]} ;;
    *) die "the input \`$2\` has ${#lines[@]} lines" "give one line" ;;
  esac
}

# Sets `value` to `true` or to nothing.
switch() {
  input "$1" "$2"
  case $value in
    true | True | TRUE) value=true ;;
    "" | false | False | FALSE) value= ;;
    *) die "the input \`$2\` is \`$value\`" "give \`true\` or \`false\`" ;;
  esac
}

input POLICY policy
policy=$value
input DRIVER driver
driver=$value
input PLATFORM platform
platform=$value
input FORMAT format
format=$value
input OUTPUT_FILE output-file
output_file=$value
input WORKING_DIRECTORY working-directory
working_directory=$value
input CACHE_DIR cache-dir
cache_dir=$value
input VERSION version
version=$value
input BINARY binary
binary=$value
input DOWNLOAD_URL download-url
download_url=$value
input TOKEN token
token=$value
unset SMGATE_ACTION_TOKEN
switch SARIF sarif
sarif=$value
switch HTML html
html=$value
switch ANNOTATIONS annotations
annotations=$value
switch SUMMARY summary
summary=$value
switch CACHE cache
cache=$value
switch VERIFY_ATTESTATION verify-attestation
verify_attestation=$value
input FAIL_ON fail-on
case $value in
  "" | deny | error) fail_on=deny ;;
  warn | warning) fail_on=warn ;;
  never) fail_on=never ;;
  *) die "the input \`fail-on\` is \`$value\`" "give \`deny\`, \`warn\` or \`never\`" ;;
esac
if [ -n "$format" ] && [ -z "$output_file" ]; then
  die "the input \`format\` has no \`output-file\`" "name the file of the report"
fi
if [ -z "$format" ] && [ -n "$output_file" ]; then
  die "the input \`output-file\` has no \`format\`" "name the form of the report, such as \`junit\`"
fi

# --- the program -------------------------------------------------------------------------------------------------

hush
action_path=${GITHUB_ACTION_PATH:-$(dirname "${BASH_SOURCE[0]}")}
# of this step alone: what others left there is neither run nor read
temp=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/smgate-action.XXXXXX")

# Sets `target` and `ending`: what is built for this runner.
find_target() {
  ending=tar.gz
  case ${RUNNER_OS:-}/${RUNNER_ARCH:-} in
    Linux/X64) target=x86_64-unknown-linux-musl ;;
    Linux/ARM64) target=aarch64-unknown-linux-musl ;;
    macOS/X64) target=x86_64-apple-darwin ;;
    macOS/ARM64) target=aarch64-apple-darwin ;;
    Windows/X64)
      target=x86_64-pc-windows-msvc
      ending=zip
      ;;
    *)
      die "there is no build for this runner (${RUNNER_OS:-no RUNNER_OS}, ${RUNNER_ARCH:-no RUNNER_ARCH})" \
        "build it with \`version: source\`, or name an installed program with \`binary\`"
      ;;
  esac
}

# Sets `repository`, OWNER/NAME of this action. In composite actions runners leave GITHUB_ACTION_REPOSITORY empty, or
# set it to that of another action; where they keep actions is `_actions/OWNER/NAME/REF`.
find_repository() {
  local path=${action_path//\\//}
  repository=${GITHUB_ACTION_REPOSITORY:-}
  case $path in
    */_actions/*/*/*)
      path=${path##*/_actions/}
      repository=${path%%/*}
      path=${path#*/}
      repository=$repository/${path%%/*}
      ;;
  esac
  if [[ ! $repository =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]]; then
    die "which repository this action comes from is not known, as with \`uses: ./PATH\`" \
      "give \`download-url\`, \`binary\`, or \`version: source\`"
  fi
}

# Fetches URL $1 to file $2. Only a server on this machine may be asked without TLS, and none that it redirects to.
fetch() {
  local schemes='=https' status rest host shown=$1
  rest=${1#*://}
  host=${rest%%/*}
  # a login is not shown
  case $host in *@*) shown="${1%%://*}://***@${host##*@}${rest#"$host"}" ;; esac
  if [[ $1 =~ ^http://(127\.0\.0\.1|localhost):[0-9]+/ ]]; then
    schemes='=http,https'
  elif [[ $1 != https://* ]]; then
    die "\`$shown\` is no https address" "give an https address as \`download-url\`"
  fi
  if ! command -v curl >/dev/null 2>&1; then
    die "there is no \`curl\` on this runner" "install it, or name an installed program with \`binary\`"
  fi
  if ! status=$(curl --fail --silent --show-error --location --globoff --proto "$schemes" --proto-redir '=https' \
    --retry 3 --connect-timeout 30 --max-time 900 --output "$2" --write-out '%{http_code}' -- "$1"); then
    die "\`$shown\` could not be fetched (HTTP status ${status:-none})" \
      "give a \`version\` that is released, a mirror as \`download-url\`, \`version: source\` to build it, or \`binary\`"
  fi
}

# Sets `hash` to the SHA-256 of a file.
sha256() {
  if command -v sha256sum >/dev/null 2>&1; then
    hash=$(sha256sum <"$1")
  elif command -v shasum >/dev/null 2>&1; then
    hash=$(shasum -a 256 <"$1")
  else
    die "there is neither \`sha256sum\` nor \`shasum\` on this runner" "install one of them"
  fi
  hash=${hash%% *}
}

# Unpacks file $2 of the zip archive $1 to $3.
unzip_one() {
  if command -v unzip >/dev/null 2>&1; then
    unzip -p "$1" "$2" >"$3"
  else
    # that of Windows reads zip archives
    "${SYSTEMROOT:-C:\\Windows}/System32/tar.exe" -xOf "$1" "$2" >"$3"
  fi
}

# Installs a release, and sets `smgate`.
install_release() {
  local releases sums archive name folder line program=smgate wanted='' found=0
  find_target
  if [ -n "$download_url" ]; then
    releases=${download_url%/}
  else
    find_repository
    releases=${GITHUB_SERVER_URL:-https://github.com}/$repository/releases
  fi
  sums=$temp/SHA256SUMS
  if [ "$version" = latest ]; then
    fetch "$releases/latest/download/SHA256SUMS" "$sums"
    version=$(tr -d '\r' <"$sums" | sed -n "s/^[0-9a-f]\{64\} [ *]smgate-\(.*\)-$target\.$ending\$/\1/p")
    if [ -z "$version" ]; then
      die "the latest release has no build for this runner ($target)" "give another \`version\`, or \`version: source\`"
    fi
  fi
  require_version
  folder=smgate-$version-$target
  archive=$folder.$ending
  case $ending in zip) program=smgate.exe ;; esac
  smgate=$temp/$folder/$program
  fetch "$releases/download/v$version/SHA256SUMS" "$sums"
  fetch "$releases/download/v$version/$archive" "$temp/$archive"
  while read -r line name || [ -n "$line" ]; do
    name=${name%$'\r'}
    if [ "${name#\*}" = "$archive" ]; then
      wanted=$line
      found=$((found + 1))
    fi
  done <"$sums"
  if [ "$found" != 1 ] || [[ ! $wanted =~ ^[0-9a-f]{64}$ ]]; then
    die "\`SHA256SUMS\` of $version does not say one hash of \`$archive\`" "do not use that download; report it"
  fi
  sha256 "$temp/$archive"
  if [ "$hash" != "$wanted" ]; then
    die "\`$archive\` has the SHA-256 $hash, and should have $wanted" \
      "do not use that download: run again, and report it if it stays so"
  fi
  if [ -n "$verify_attestation" ]; then
    if ! command -v gh >/dev/null 2>&1; then
      die "there is no \`gh\` on this runner, which checks attestations" "install it, or leave out \`verify-attestation\`"
    fi
    find_repository
    if ! GH_TOKEN=$token gh attestation verify "$temp/$archive" --repo "$repository"; then
      die "no attestation of $repository is about \`$archive\`" "do not use that download; report it"
    fi
  fi
  mkdir "$temp/$folder"
  case $ending in
    zip) unzip_one "$temp/$archive" "$folder/$program" "$smgate" ;;
    *) tar -xzf "$temp/$archive" -C "$temp" "$folder/$program" ;;
  esac
  chmod +x "$smgate"
  rm "$temp/$archive" "$sums"
}

require_version() {
  if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]]; then
    die "\`$version\` is no version" "give \`version\` as X.Y.Z, \`latest\` or \`source\`, or leave it out"
  fi
}

# Builds the action's own commit, and sets `smgate`.
install_source() {
  if ! command -v cargo >/dev/null 2>&1; then
    die "there is no \`cargo\` on this runner" "install Rust before this step, or give a \`version\` that is released"
  fi
  # there, so that no configuration of the workspace counts
  if ! (cd -- "$action_path" && cargo install --locked --quiet --path . --root "$temp/source"); then
    die "smgate could not be built here" "see above what cargo says, or give a \`version\` that is released"
  fi
  smgate=$temp/source/bin/smgate
  if [ -f "$smgate.exe" ]; then smgate=$smgate.exe; fi
}

cd -- "${GITHUB_WORKSPACE:-.}"
if [ -n "$binary" ]; then
  if [ -n "$version" ]; then
    die "both \`binary\` and \`version\` are given" "leave out one"
  fi
  case $binary in
    /* | [A-Za-z]:*) smgate=$binary ;;
    */* | *\\*) smgate=$PWD/$binary ;;
    *) smgate=$(type -P -- "$binary" || true) ;;
  esac
  if [ -z "$smgate" ] || [ ! -f "$smgate" ]; then
    die "the program \`$binary\` of \`binary\` is not there" "name its path, or a name on the path"
  fi
else
  case $version in
    source) install_source ;;
    *)
      if [ -z "$version" ]; then
        # the action's own
        version=$(sed -n '/^version = /{s/^version = "\(.*\)"$/\1/p;q;}' "$action_path/Cargo.toml")
      fi
      version=${version#v}
      if [ "$version" != latest ]; then require_version; fi
      install_release
      ;;
  esac
  # steps to come may use it too
  printf '%s\n' "$(dirname "$smgate")" >>"${GITHUB_PATH:-/dev/null}"
fi
if ! said=$("$smgate" --version); then
  die "\`$smgate\` does not run on this runner" "give another \`version\` or \`binary\`"
fi

# --- the run -----------------------------------------------------------------------------------------------------

if [ -n "$working_directory" ]; then
  # `-` too is a name
  case $working_directory in -*) working_directory=./$working_directory ;; esac
  if [ ! -d "$working_directory" ]; then
    die "there is no directory \`$working_directory\` (\`working-directory\`)" "check it out, or correct its name"
  fi
  cd -- "$working_directory"
fi
reports=$(mktemp -d "$temp/reports.XXXXXX")
command=(check)
if [ -n "$policy" ]; then command+=("--policy=$policy"); fi
split_lines "$(printf '%s' "${SMGATE_ACTION_TARGETS:-}" | tr , '\n')"
for target in ${lines[@]+"${lines[@]}"}; do command+=("--target=$target"); done
if [ -n "$driver" ]; then command+=("--driver=$driver"); fi
if [ -n "$platform" ]; then command+=("--platform=$platform"); fi
if [ "$fail_on" = warn ]; then command+=(--fail-on=warn); fi
if [ -z "$cache" ]; then command+=(--no-cache); fi
if [ -n "$cache_dir" ]; then export SMGATE_CACHE_DIR=$cache_dir; fi
command+=("--output=json=$reports/smgate.json")
if [ -n "$summary" ]; then command+=("--output=markdown=$reports/smgate.md"); fi
if [ -n "$annotations" ]; then command+=("--output=github=$reports/annotations.txt"); fi
if [ -n "$sarif" ]; then command+=("--output=sarif=$reports/smgate.sarif"); fi
if [ -n "$html" ]; then command+=("--output=html=$reports/smgate.html"); fi
if [ -n "$format" ]; then command+=("--output=$format=$output_file"); fi
split_lines "${SMGATE_ACTION_ARGS:-}"
command+=(${lines[@]+"${lines[@]}"})
split_lines "${SMGATE_ACTION_INPUTS:-}"
command+=(-- ${lines[@]+"${lines[@]}"})

printf '%s\n\n' "$said"
status=0
# without what Git for Windows does to arguments that look like paths
MSYS_NO_PATHCONV=1 "$smgate" "${command[@]}" </dev/null || status=$?
speak

# The value of form $2 in the line of the JSON report that begins with $1: no text in it can begin a line.
from_report() {
  sed -n "/^$1/{s/^$1\($2\)\"\{0,1\},\{0,1\}\$/\1/p;q;}" "$reports/smgate.json"
}

# What the report says counts, where it says what the exit status says. Help, for one, ends with 0 and has no report.
verdict=error
if [ -f "$reports/smgate.json" ]; then verdict=$(from_report '  "verdict": "' '[a-z]*'); fi
case $status/$verdict in
  0/pass | 1/fail | 3/incomplete) exit_code=$status ;;
  *)
    verdict=error
    exit_code=2
    # nothing of it is handed on
    rm -rf "$reports"
    mkdir "$reports"
    ;;
esac

# --- what it says ------------------------------------------------------------------------------------------------

output verdict "$verdict"
output exit-code "$exit_code"
told=yes
if [ "$verdict" != error ]; then
  output errors "$(from_report '    "denied": ' '[0-9]*')"
  output warnings "$(from_report '    "warnings": ' '[0-9]*')"
  output problems "$(from_report '    "problems": ' '[0-9]*')"
  output json-file "$reports/smgate.json"
fi
if [ -f "$reports/smgate.sarif" ]; then output sarif-file "$reports/smgate.sarif"; fi
if [ -f "$reports/smgate.html" ]; then output html-file "$reports/smgate.html"; fi
if [ -f "$reports/annotations.txt" ]; then
  # these commands and no other
  grep -E '^::(error|warning|notice)( [^:]|::)' "$reports/annotations.txt" || true
fi
if [ -n "$summary" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  if [ ! -f "$reports/smgate.md" ]; then
    printf '### smgate: nothing was judged\n\nThe log of the step says why.\n' >"$reports/smgate.md"
  fi
  if [ "$(cat "$GITHUB_STEP_SUMMARY" "$reports/smgate.md" 2>/dev/null | wc -c)" -le "$summary_limit" ]; then
    cat "$reports/smgate.md" >>"$GITHUB_STEP_SUMMARY"
  else
    printf '::notice title=smgate::the summary is too long for the page of the run; see the log\n'
  fi
fi
if [ "$verdict" = error ]; then
  printf '::error title=smgate::nothing was judged (exit status %s); the log of the step says why\n' "$status"
elif [ "$exit_code" != 0 ] && [ "$fail_on" = never ]; then
  printf '::notice title=smgate::the verdict is %s; the step passes because of "fail-on: never"\n' "$verdict"
  exit_code=0
fi
exit "$exit_code"
