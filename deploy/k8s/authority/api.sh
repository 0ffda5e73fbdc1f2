# Sourced by the scripts beside it: requests to the API server with the pod's own token.
#
#   api METHOD PATH [FILE]   sends FILE and prints the answer. Exit code 4: there is no such object, 9: there is
#                            one already, 1: all else, with the server's words on standard error.
#
# `$work` is a folder that goes with the script. The token is in no argument, where others could read it.
# FATHOM_API, FATHOM_ACCOUNT: another server, and another folder of token and ca.crt.
api_server=${FATHOM_API:-https://kubernetes.default.svc}
account=${FATHOM_ACCOUNT:-/var/run/secrets/kubernetes.io/serviceaccount}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 0' TERM INT

ask() {
  curl -sS --cacert "$account/ca.crt" -H 'Content-Type: application/json' \
    -K <(printf 'header = "Authorization: Bearer %s"\n' "$(<"$account/token")") "$@"
}

api() {
  local method=$1 path=$2 code
  code=$(ask --max-time 20 -X "$method" ${3:+--data-binary "@$3"} -o "$work/answer" -w '%{http_code}' "$api_server$path") || return 1
  case $code in
    2??) cat "$work/answer" ;;
    404) return 4 ;;
    409) return 9 ;;
    *) echo "$method $path: $code $(jq -r '.message // .' "$work/answer")" >&2; return 1 ;;
  esac
}
