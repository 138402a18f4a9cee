# The page of `sinew view`, made by Node from the sources beside and put into the command as an array. Without Node, or
# when its packages cannot be fetched, the command is built all the same and says what is missing.

find_program(NODE NAMES node nodejs)
find_program(NPM NAMES npm)
set(viewer_source ${CMAKE_BINARY_DIR}/viewer_page.c)
file(GLOB viewer_inputs CONFIGURE_DEPENDS viewer/src/* viewer/page.html viewer/build.mjs viewer/build.sh
  viewer/package-lock.json)
# what only tests need is fetched for them alone
set(viewer_packages $<IF:$<BOOL:${SNW_TESTS}>,all,build>)
add_custom_command(OUTPUT ${viewer_source}
  COMMAND ${CMAKE_COMMAND} -E env "NODE=$<IF:$<BOOL:${NODE}>,${NODE},>" "NPM=$<IF:$<BOOL:${NPM}>,${NPM},>"
    sh ${CMAKE_SOURCE_DIR}/viewer/build.sh ${viewer_packages} ${viewer_source}
  DEPENDS ${viewer_inputs} VERBATIM COMMENT "Page of the viewer")
