# Everything that is built and run only to check: tests of each kind, benchmarks, lint.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(leaks "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/tests/leaks.txt")

# What takes minutes under sanitizers and runs no line that others do not run there: long motions compared with sources.
set(long_motions physics_sources physics_feed physics_noise physics_index3 example_rods_free_flight example_rods_ufkes_energy
  example_rods_flying_rod example_rods_boyer4_release
  example_parallel_rfrfr_singularity example_parallel_stewart_gough example_parallel_tendon_twin example_hybrid_flexible_forearm cli_examples)

# add one test, with the prefix of this build
function(check name label seconds)
  if(SNW_SANITIZE AND name IN_LIST long_motions)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "COMMAND;ENVIRONMENT" ${ARGN})
  list(APPEND arg_ENVIRONMENT ${leaks})
  if(SNW_SANITIZE)
    list(APPEND arg_ENVIRONMENT SINEW_SLOW=1)
  endif()
  add_test(NAME ${SNW_TEST_PREFIX}${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${SNW_TEST_PREFIX}${name} PROPERTIES
    LABELS ${label} TIMEOUT ${seconds} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# independent solutions and closed forms, shared by tests and benchmarks
file(GLOB oracle_sources CONFIGURE_DEPENDS tests/oracle/*.c)
if(oracle_sources)
  add_library(oracle STATIC ${oracle_sources})
  target_include_directories(oracle PUBLIC src tests)
  target_include_directories(oracle SYSTEM PRIVATE ${SUNDIALS_INCLUDE})
  target_link_libraries(oracle PUBLIC sinew PRIVATE ${SUNDIALS})
  set(oracle oracle)
endif()

foreach(kind unit physics fuzz)
  file(GLOB tests CONFIGURE_DEPENDS tests/${kind}/test_*.c tests/${kind}/fuzz_*.c)
  foreach(source ${tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^(test|fuzz)" ${kind} name ${name})
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE src tests)
    target_compile_definitions(${name} PRIVATE SNW_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE ${oracle} sinew PkgConfig::CMOCKA)
    check(${name} ${kind} 300 COMMAND ${name})
  endforeach()
endforeach()

# the recursion once more with numbers of 113 bits: tangents against differences that leave fifteen digits, and then
# those of doubles against these
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES m)
check_c_source_compiles("#define _GNU_SOURCE
#include <math.h>
int main(int n, char **v) { (void)v; return (int)sqrtf128((_Float128)n); }" SNW_HAS_WIDE)
if(SNW_HAS_WIDE AND NOT SNW_SANITIZE)
  file(GLOB wide_sources CONFIGURE_DEPENDS
    src/base/*.c src/math/*.c src/model/*.c src/dynamics/*.c src/io/*.c)
  list(FILTER wide_sources EXCLUDE REGEX "io/(result|robot_open)")
  list(APPEND wide_sources src/study/series.c src/shoot/march.c src/shoot/replica.c src/shoot/rod.c
    src/shoot/station.c)
  set(wide_flags -w -O1 -g0 -include ${CMAKE_SOURCE_DIR}/tests/wide.h)
  add_library(wide STATIC ${wide_sources})
  target_include_directories(wide PUBLIC include src)
  target_compile_options(wide PRIVATE ${wide_flags})
  target_compile_definitions(wide PUBLIC ${assert_definition})
  target_link_libraries(wide PUBLIC m PRIVATE PkgConfig::FYAML)
  foreach(name contact fed feedback fluid given loops measures motors rub shoot_slopes spans tangent)
    add_executable(wide_${name} tests/physics/test_${name}.c)
    target_include_directories(wide_${name} PRIVATE tests)
    target_compile_options(wide_${name} PRIVATE ${wide_flags})
    target_link_libraries(wide_${name} PRIVATE wide PkgConfig::CMOCKA)
    set(kept "SNW_SLOPES=${CMAKE_BINARY_DIR}/wide_${name}.slopes")
    check(wide_${name} physics 300 COMMAND wide_${name} ENVIRONMENT ${kept})
    set_tests_properties(${SNW_TEST_PREFIX}wide_${name} PROPERTIES FIXTURES_SETUP wide_${name})
    set_tests_properties(${SNW_TEST_PREFIX}physics_${name} PROPERTIES
      FIXTURES_REQUIRED wide_${name} ENVIRONMENT "${kept};${leaks}")
  endforeach()
endif()

file(GLOB benchmarks CONFIGURE_DEPENDS bench/*.c)
foreach(source ${benchmarks})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_include_directories(bench_${name} PRIVATE src tests)
  target_link_libraries(bench_${name} PRIVATE ${oracle} sinew)
endforeach()

# examples of the library
file(GLOB examples CONFIGURE_DEPENDS examples/c/*.c)
foreach(source ${examples})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_c_${name} ${source})
  target_link_libraries(example_c_${name} PRIVATE sinew)
  check(example_c_${name} example 60 COMMAND example_c_${name})
endforeach()

# the command as a person uses it
if(TARGET command)
  file(GLOB tests CONFIGURE_DEPENDS tests/cli/test_*.py)
  foreach(source ${tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test" cli name ${name})
    check(${name} cli 300 COMMAND ${Python3_EXECUTABLE} ${source}
      ENVIRONMENT "SINEW=$<TARGET_FILE:command>;SINEW_SOURCE=${CMAKE_SOURCE_DIR};SINEW_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  file(GLOB examples CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/examples examples/*/*.yaml)
  foreach(example ${examples})
    string(REGEX REPLACE "\\.yaml$" "" name ${example})
    string(REPLACE "/" "_" name ${name})
    check(example_${name} example 300
      COMMAND command verify ${CMAKE_SOURCE_DIR}/examples/${example})
  endforeach()
endif()

# the viewer: its types, and its page in a browser; without Node or Chromium these are skipped, with a word
if(TARGET command AND NOT SNW_SANITIZE AND NOT SNW_TEST_PREFIX AND NODE)
  check(viewer_types viewer 120 COMMAND sh ${CMAKE_SOURCE_DIR}/viewer/types.sh ${NODE})
  check(viewer_page viewer 180 COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/viewer/test/page.test.mjs $<TARGET_FILE:command>)
  set_tests_properties(viewer_types viewer_page PROPERTIES SKIP_RETURN_CODE 77)
endif()

# each public header stands alone, in C11 and in C++17; each of ours does in C17
file(GLOB public RELATIVE ${CMAKE_SOURCE_DIR}/include CONFIGURE_DEPENDS include/sinew/*.h)
file(GLOB_RECURSE private RELATIVE ${CMAKE_SOURCE_DIR}/src CONFIGURE_DEPENDS src/*.h)
foreach(header ${public} ${private})
  string(MAKE_C_IDENTIFIER ${header} id)
  set(unit ${CMAKE_BINARY_DIR}/headers/${id})
  file(GENERATE OUTPUT ${unit}.c CONTENT "#include \"${header}\"\ntypedef int not_empty;\n")
  if(header IN_LIST public)
    file(GENERATE OUTPUT ${unit}.cpp CONTENT "#include \"${header}\"\ntypedef int not_empty;\n")
    list(APPEND public_units ${unit}.c)
    list(APPEND cxx_units ${unit}.cpp)
  else()
    list(APPEND private_units ${unit}.c)
  endif()
endforeach()
add_library(headers_c11 OBJECT ${public_units})
set_target_properties(headers_c11 PROPERTIES C_STANDARD 11)
target_include_directories(headers_c11 PRIVATE include)
add_library(headers_c17 OBJECT ${private_units})
target_include_directories(headers_c17 PRIVATE include src)
target_compile_definitions(headers_c17 PRIVATE ${assert_definition})
target_link_libraries(headers_c17 PRIVATE PkgConfig::FYAML PkgConfig::HDF5)

# what needs to be looked at once, not in every build
if(NOT SNW_TEST_PREFIX)
  find_program(CLANG_FORMAT NAMES clang-format-14 clang-format REQUIRED)
  find_program(CXX NAMES g++ clang++ REQUIRED)
  check(headers_cxx17 house 60 COMMAND ${CXX} -std=c++17 -Wall -Wextra -Wpedantic -Werror
    -fsyntax-only -I${CMAKE_SOURCE_DIR}/include ${cxx_units})
  check(lint house 60 COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/lint.py
    ${CMAKE_SOURCE_DIR})
  check(format house 60 COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/format.py
    --check ${CLANG_FORMAT})
  check(clang house 300 COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/clang.py
    ${CMAKE_BINARY_DIR})
  check(install house 120 COMMAND ${CMAKE_SOURCE_DIR}/tools/install_test.sh ${CMAKE_BINARY_DIR}
    ${CMAKE_C_COMPILER})
  if(TARGET command)
    check(docs house 60 COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/docs.py
      --check $<TARGET_FILE:command>)
  endif()
endif()
