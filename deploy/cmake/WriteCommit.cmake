# cmake -DSOURCE=… -DOUTPUT=… -P WriteCommit.cmake: writes build_commit.cc, and only if it changed.
execute_process(
  COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT commit MATCHES "^[0-9a-f]+(-dirty)?$")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#include \"daemon/service/build_commit.h\"

namespace fathom::service {

const char* const kBuildCommit = \"@commit@\";

}  // namespace fathom::service
")
