# Sourced: runs named stages and tells at the end where the time went.
stages_names=(); stages_seconds=(); stages_began=0

stage_begin() { printf '\n== %s\n' "$1"; stages_names+=("$1"); stages_began=$SECONDS; }
stage_end() { stages_seconds+=($((SECONDS - stages_began))); }

# stage NAME COMMAND...: ends the script with the command's code if it fails.
stage() {
  local code=0
  stage_begin "$1"; shift
  "$@" || code=$?
  stage_end
  if [[ $code -ne 0 ]]; then echo "${stages_names[-1]} failed: $*" >&2; exit "$code"; fi
}

stages_table() {
  local i
  printf '\n%-14s %s\n' stage seconds
  for i in "${!stages_seconds[@]}"; do printf '%-14s %7d\n' "${stages_names[$i]}" "${stages_seconds[$i]}"; done
}
