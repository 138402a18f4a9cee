# The models of `sinew new`: every file beside this one is put into the command as an array of bytes.

set(templates_source ${CMAKE_BINARY_DIR}/templates.c)
file(GLOB templates CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.yaml)
set(arrays "")
set(rows "")
foreach(template ${templates})
  get_filename_component(name ${template} NAME_WE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${template})
  file(READ ${template} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${name}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", (const char *)${name}},\n")
endforeach()
file(CONFIGURE OUTPUT ${templates_source} @ONLY CONTENT [[// SPDX-License-Identifier: MIT
#include "cli/template.h"

@arrays@
const snw_template snw_templates[] = {
@rows@    {0},
};
]])
