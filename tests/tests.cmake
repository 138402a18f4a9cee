# Targets that are built and run only for checks: tests of each kind, benchmarks, lint.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# some hundred programs are linked; this linker, where installed, takes half the time
find_program(GOLD ld.gold)
if(GOLD)
  add_link_options(-fuse-ld=gold)
endif()

set(leaks "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/tests/leaks.txt")

# Left out under sanitizers, since other tests run the same lines there:
#   - whole tests that take long, motions compared with sources, random robots by the dozen: the list below
#   - trials beyond a few and times beyond the first within tests: AMONG of sanitized.h, `few` and SLOW of cli/harness.py
#   - examples after five increments: brief.sh; of their list every second one
#   - complex_*, wide_* (the recursion with other number types), viewer_* (the same command with a browser), and checks of
#     sources rather than of their function
set(long_motions physics_sources physics_till physics_variable_length_runs physics_noise physics_index3 physics_trees physics_modes physics_explicit
  physics_shoot_damping physics_gradient physics_gradient_events physics_gradient_memory physics_conditional_links
  physics_contact_statics physics_branches physics_frame_invariance physics_gradient_hard physics_gradient_states
  physics_gradient_conserving physics_gradient_gathered physics_gradient_change physics_rod_mesh physics_truncation
  physics_quadrature physics_paths physics_impacts physics_shoot_plate physics_shoot_study physics_fluid physics_tendons
  physics_chains physics_changes physics_excursions physics_tubes physics_shoot_tree physics_rod_contact physics_implicit
  cli_fit cli_examples cli_language cli_cluster cli_other_programs example_contact_belt example_contact_helix_in_tube
  example_parallel_net example_paths_stewart_gough random_motion cli_optimize cli_pages cli_motion physics_gradient_given
  unit_robot_tendons unit_robot_optimize physics_loop_cuts physics_march physics_balance physics_conditional)

# add one test, with the prefix of this build; the time limit is reached only by a hang, even on a busy machine
function(check name label)
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
    LABELS ${label} TIMEOUT 1200 ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# Some hundred programs share one library instead of containing OpenBLAS each. Benchmarks and the command link archives.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(tested sinew)
else()
  set(tested tested)
  add_library(tested SHARED $<TARGET_OBJECTS:objects> ${pack_objects})
  target_include_directories(tested PUBLIC include)
  target_compile_definitions(tested PUBLIC ${assert_definition})
  target_link_libraries(tested PUBLIC m PRIVATE ${library_links})
  target_link_options(tested PRIVATE ${library_wraps})
endif()

# independent solutions and closed forms, shared by tests and benchmarks
file(GLOB oracle_sources CONFIGURE_DEPENDS tests/oracle/*.c)
if(oracle_sources)
  add_library(oracle STATIC ${oracle_sources})
  target_include_directories(oracle PUBLIC src tests)
  target_include_directories(oracle SYSTEM PRIVATE ${SUNDIALS_INCLUDE})
  target_link_libraries(oracle PUBLIC ${tested} PRIVATE ${SUNDIALS})
  set(oracle oracle)
endif()

# with the thread sanitizer only programs that have threads
if(SNW_SANITIZE STREQUAL "thread")
  foreach(name threads shared_model batch job_threads)
    add_executable(unit_${name} tests/unit/test_${name}.c)
    target_include_directories(unit_${name} PRIVATE src tests)
    target_link_libraries(unit_${name} PRIVATE ${tested} PkgConfig::CMOCKA)
    check(unit_${name} unit COMMAND unit_${name})
  endforeach()
  return()
endif()

foreach(kind unit physics fuzz)
  file(GLOB tests CONFIGURE_DEPENDS tests/${kind}/test_*.c tests/${kind}/fuzz_*.c)
  foreach(source ${tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^(test|fuzz)" ${kind} name ${name})
    if(SNW_SANITIZE AND name IN_LIST long_motions)
      continue()
    endif()
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE src tests)
    target_compile_definitions(${name} PRIVATE SNW_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE ${oracle} ${tested} PkgConfig::CMOCKA)
    target_compile_options(${name} PRIVATE -O1) # half the compiler's time; most of the run time is in the library
    check(${name} ${kind} COMMAND ${name})
  endforeach()
endforeach()

# robots of other formats compared with MuJoCo, where Debian's libmujoco-dev is installed; it is no part of the set-up
find_path(MUJOCO_INCLUDE NAMES mujoco/mujoco.h)
find_library(MUJOCO_LIBRARY NAMES mujoco)
set(compare_mujoco "")
if(MUJOCO_INCLUDE AND MUJOCO_LIBRARY AND EXPAT_INCLUDE AND EXPAT_ARCHIVE AND NOT SNW_SANITIZE)
  add_executable(compare_mujoco tests/mujoco/compare.c)
  target_include_directories(compare_mujoco PRIVATE src)
  target_include_directories(compare_mujoco SYSTEM PRIVATE ${MUJOCO_INCLUDE})
  target_link_libraries(compare_mujoco PRIVATE ${tested} ${MUJOCO_LIBRARY} m)
  set(compare_mujoco $<TARGET_FILE:compare_mujoco>)
endif()
if(NOT SNW_SANITIZE)
  check(import_mujoco physics COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/mujoco/random_trees.py "${compare_mujoco}")
  set_tests_properties(${SNW_TEST_PREFIX}import_mujoco PROPERTIES SKIP_RETURN_CODE 77)
endif()

# parts of web/ that replace libraries are tested against these, under other names, and by the tests of what they replace
set(web_names "")
foreach(name dgemm dtrsm dgetrf dgetrs dpotrf dpotrs dsytrf dsygst dsyev dgeev dgeqp3 dorgqr dormqr dgesvd dgelsy)
  list(APPEND web_names ${name}_=web_${name}_)
endforeach()
foreach(name yaml_parse yaml_events_open yaml_events_next yaml_events_close)
  list(APPEND web_names snw_${name}=web_${name})
endforeach()
file(GLOB web_lapack CONFIGURE_DEPENDS web/lapack_*.c)
add_library(web_parts OBJECT ${web_lapack} web/yaml_events.c src/language/yaml.c)
target_include_directories(web_parts PRIVATE include src)
target_compile_definitions(web_parts PRIVATE ${web_names})
foreach(name web_lapack web_yaml)
  target_link_libraries(unit_${name} PRIVATE web_parts)
endforeach()
target_link_libraries(unit_web_lapack PRIVATE ${OPENBLAS_SERIAL} gfortran)
target_compile_definitions(unit_web_yaml PRIVATE EXAMPLES="${CMAKE_SOURCE_DIR}/examples")
add_executable(unit_web_ode tests/unit/test_ode.c src/solve/ode.c web/ode_engine.c web/ode_bdf.c)
target_include_directories(unit_web_ode PRIVATE src tests)
target_link_libraries(unit_web_ode PRIVATE ${tested} PkgConfig::CMOCKA)
check(unit_web_ode unit COMMAND unit_web_ode)

target_link_libraries(unit_result_hostile PRIVATE PkgConfig::HDF5) # it writes files that the library would not

# The recursion, and the reader of robots for it, are compiled twice more with other number types. Complex numbers: the
# sources are compiled as C++, and tangents are compared with complex steps. Numbers of 113 bits: rounding errors of
# residuals in double.
set(of_derivatives strain_functions contact obstacles rod_contact force_elements force_fields states tubes variable_length feedback fluid given_strains materials nonholonomic loops tendons motors gears tendon_friction tendon_segments tangent chebyshev_rods)
file(GLOB recursion_sources CONFIGURE_DEPENDS
  src/base/*.c src/math/*.c src/model/*.c src/dynamics/*.c src/language/*.c)
list(APPEND recursion_sources src/study/series.c src/study/linear_names.c)
# the parts of the boundary-value engine that have variations: marches, stations, laws, plates, trees
set(shoot_sources src/shoot/boundary.c src/shoot/tendons.c src/shoot/history.c src/shoot/march.c src/shoot/platform.c
  src/shoot/pose_rate.c src/shoot/rod.c src/shoot/segments.c src/shoot/station.c src/shoot/kept_newton.c src/shoot/tree.c
  src/solve/secants.c tests/numbers/dense.c)

# a test with the number type `kind`
function(check_numbers kind name source)
  add_executable(${kind}_${name} ${source})
  target_include_directories(${kind}_${name} PRIVATE tests)
  target_link_libraries(${kind}_${name} PRIVATE ${kind} PkgConfig::CMOCKA)
  set_target_properties(${kind}_${name} PROPERTIES COMPILE_OPTIONS "$<TARGET_PROPERTY:${kind},COMPILE_OPTIONS>")
  check(${kind}_${name} physics COMMAND ${kind}_${name}
    ENVIRONMENT "SNW_DERIVATIVES=${CMAKE_BINARY_DIR}/${kind}_${name}.derivatives")
endfunction()

# the library `kind` made of these sources with its own flags, and tests of derivatives with it
function(check_derivatives kind)
  add_library(${kind} STATIC ${recursion_sources})
  target_include_directories(${kind} PUBLIC tests/${kind} include src)
  target_compile_definitions(${kind} PUBLIC ${assert_definition})
  target_link_libraries(${kind} PUBLIC m PRIVATE PkgConfig::FYAML)
  if(EXPAT_INCLUDE AND EXPAT_ARCHIVE) # src/language/element.c
    target_link_libraries(${kind} PRIVATE ${EXPAT_ARCHIVE})
  endif()
  set_target_properties(${kind} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  foreach(name ${of_derivatives})
    check_numbers(${kind} ${name} tests/physics/test_${name}.c)
  endforeach()
endfunction()

include(CheckCSourceCompiles)
set(complex_flags -x c++ -std=gnu++20 -fpermissive -fno-exceptions -nostdinc++ -fno-strict-aliasing -w -O1 -g0
  -I${CMAKE_SOURCE_DIR}/src -include ${CMAKE_SOURCE_DIR}/tests/complex/complex_step.h)
list(JOIN complex_flags " " CMAKE_REQUIRED_FLAGS)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # flags that would fail with a linker
check_c_source_compiles("double half(double x) { return sqrt(x) / 2; }" SNW_HAS_COMPLEX)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT SNW_HAS_COMPLEX)
  message(STATUS "Tests of tangents by complex steps are left out: ${CMAKE_C_COMPILER} reads no C++; install g++ and use gcc")
elseif(NOT SNW_SANITIZE)
  check_derivatives(complex ${complex_flags})
  target_sources(complex PRIVATE ${shoot_sources})
  check_numbers(complex shoot_derivatives tests/physics/test_shoot_derivatives.c)
  check_numbers(complex observer tests/physics/test_observer.c)
  check_numbers(complex numbers tests/complex/test_numbers.c)
endif()

set(CMAKE_REQUIRED_LIBRARIES m)
check_c_source_compiles("#define _GNU_SOURCE
#include <math.h>
int main(int n, char **v) { (void)v; return (int)sqrtf128((_Float128)n); }" SNW_HAS_WIDE)
if(SNW_HAS_WIDE AND NOT SNW_SANITIZE)
  check_derivatives(wide -w -O0 -g0 -include ${CMAKE_SOURCE_DIR}/tests/wide/wide.h)
  target_sources(wide PRIVATE ${shoot_sources})
  check_numbers(wide shoot_derivatives tests/physics/test_shoot_derivatives.c)
  foreach(name ${of_derivatives})
    set_tests_properties(${SNW_TEST_PREFIX}wide_${name} PROPERTIES FIXTURES_SETUP wide_${name})
    set_tests_properties(${SNW_TEST_PREFIX}physics_${name} PROPERTIES
      FIXTURES_REQUIRED wide_${name} ENVIRONMENT "SNW_DERIVATIVES=${CMAKE_BINARY_DIR}/wide_${name}.derivatives;${leaks}")
  endforeach()
endif()

file(GLOB benchmarks CONFIGURE_DEPENDS bench/*.c)
if(SNW_SANITIZE)
  set(benchmarks "")
endif()
foreach(source ${benchmarks})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_include_directories(bench_${name} PRIVATE src tests)
  target_link_libraries(bench_${name} PRIVATE ${oracle} ${tested})
endforeach()
if(MUJOCO_INCLUDE AND MUJOCO_LIBRARY AND TARGET bench_rigid) # measured beside it
  target_compile_definitions(bench_rigid PRIVATE BENCH_MUJOCO)
  target_include_directories(bench_rigid SYSTEM PRIVATE ${MUJOCO_INCLUDE})
  target_link_libraries(bench_rigid PRIVATE ${MUJOCO_LIBRARY})
endif()

# instructions of the kernels, counted by valgrind
find_program(VALGRIND valgrind)
if(NOT VALGRIND)
  message(STATUS "Instruction counts of kernels are not compared: valgrind is not installed")
elseif(NOT SNW_SANITIZE)
  check(bench_kernels bench COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/bench/kernels.py $<TARGET_FILE:bench_kernels>
    "${CMAKE_C_COMPILER_ID}-${CMAKE_C_COMPILER_VERSION}" "${CMAKE_BUILD_TYPE}")
endif()

# the same numbers by all paths, on all examples but the one that is too large for a dense matrix
if(NOT SNW_SANITIZE)
  file(GLOB examples CONFIGURE_DEPENDS examples/*/*.yaml)
  list(FILTER examples EXCLUDE REGEX "/parallel/net.yaml$")
  check(bench_paths bench COMMAND bench_paths ${examples})
endif()

# examples of the library
file(GLOB examples CONFIGURE_DEPENDS examples/c/*.c)
foreach(source ${examples})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_c_${name} ${source})
  target_link_libraries(example_c_${name} PRIVATE ${tested})
  check(example_c_${name} example COMMAND example_c_${name})
endforeach()

# the command as a user calls it
if(TARGET command)
  add_library(starve MODULE tests/starve.c)
  set_target_properties(starve PROPERTIES COMPILE_OPTIONS "-O1" LINK_OPTIONS "") # without sanitizers: it is loaded before them
  target_link_libraries(starve PRIVATE ${CMAKE_DL_LIBS})
  file(GLOB tests CONFIGURE_DEPENDS tests/cli/test_*.py)
  foreach(source ${tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test" cli name ${name})
    check(${name} cli COMMAND ${Python3_EXECUTABLE} ${source}
      ENVIRONMENT "SINEW=$<TARGET_FILE:command>;SINEW_SOURCE=${CMAKE_SOURCE_DIR};SINEW_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  # random robots, a minute of them: the groups of tests/random, and the hunt itself
  foreach(group Families Statics Motion Bodies)
    string(TOLOWER random_${group} name)
    check(${name} random 900 COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/random/test_random.py ${group}
      ENVIRONMENT "SINEW=$<TARGET_FILE:command>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  check(random_hunt random 300 COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/random/test_hunt.py
    ENVIRONMENT "SINEW=$<TARGET_FILE:command>;PYTHONDONTWRITEBYTECODE=1")
  file(GLOB examples CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/examples examples/*/*.yaml)
  set(every_second OFF)
  foreach(example ${examples})
    string(REGEX REPLACE "\\.yaml$" "" name ${example})
    string(REPLACE "/" "_" name ${name})
    if(SNW_SANITIZE)
      if(every_second)
        set(every_second OFF)
        continue()
      endif()
      set(every_second ON)
      check(example_${name} example COMMAND ${CMAKE_SOURCE_DIR}/tests/brief.sh $<TARGET_FILE:command>
        ${CMAKE_SOURCE_DIR}/examples/${example} example_${name}.h5)
    else()
      check(example_${name} example COMMAND command verify ${CMAKE_SOURCE_DIR}/examples/${example})
    endif()
  endforeach()
endif()

# the viewer: its types, its page in a browser, and exported robots in the Khronos validator; without Node or Chromium
# these are skipped, with a message
if(TARGET command AND NOT SNW_SANITIZE AND NOT SNW_TEST_PREFIX AND NODE)
  check(viewer_types viewer COMMAND sh ${CMAKE_SOURCE_DIR}/viewer/types.sh ${NODE})
  check(viewer_page viewer COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/viewer/test/page.test.mjs $<TARGET_FILE:command>)
  check(viewer_gltf viewer COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/viewer/test/gltf.test.mjs $<TARGET_FILE:command>)
  check(viewer_play viewer COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/viewer/test/play.test.mjs $<TARGET_FILE:command>)
  set_tests_properties(viewer_types viewer_page viewer_gltf viewer_play PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(viewer_play PROPERTIES PROCESSORS 2 COST 1000) # it measures time; it starts first, so that no other test is waited for
endif()

# the engine of browsers, where `make test` could build it (emscripten): examples in Node, the interface in a browser
if(TARGET command AND NOT SNW_SANITIZE AND NOT SNW_TEST_PREFIX AND NODE)
  set(wasm_site ${CMAKE_SOURCE_DIR}/build/wasm-test/site)
  check(wasm_examples wasm COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/web/test/examples.mjs ${wasm_site})
  check(wasm_bad_input wasm COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/web/test/bad_input.mjs ${wasm_site})
  check(wasm_browser wasm COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/web/test/browser.test.mjs ${wasm_site})
  set_tests_properties(wasm_examples wasm_bad_input wasm_browser PROPERTIES SKIP_RETURN_CODE 77)
endif()

# the playground: the structure of a text being typed, and the page in a browser, with the engine in WebAssembly where it was
# built, else with the command behind the same interface
if(TARGET command AND NOT SNW_SANITIZE AND NOT SNW_TEST_PREFIX AND NODE AND NPM)
  add_custom_target(playground_packages ALL COMMAND ${CMAKE_COMMAND} -E env NPM=${NPM}
    sh ${CMAKE_SOURCE_DIR}/tools/npm_fetch.sh ${CMAKE_SOURCE_DIR}/playground all || echo "the playground is not tested" VERBATIM)
  check(playground_types viewer COMMAND sh ${CMAKE_SOURCE_DIR}/playground/types.sh ${NODE})
  check(playground_position viewer COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/playground/test/position.test.mjs)
  check(playground_page viewer COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/playground/test/playground.test.mjs
    $<TARGET_FILE:command> ${wasm_site})
  set_tests_properties(playground_types playground_page PROPERTIES SKIP_RETURN_CODE 77)
endif()

# checks that run once, not in every build
if(NOT SNW_TEST_PREFIX)
  # each public header compiles alone, in C11 and in C++17; each internal one in C17
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

  find_program(CLANG_FORMAT NAMES clang-format-14 clang-format REQUIRED)
  find_program(CXX NAMES g++ clang++ REQUIRED)
  check(headers_cxx17 house COMMAND ${CXX} -std=c++17 -Wall -Wextra -Wpedantic -Werror
    -fsyntax-only -I${CMAKE_SOURCE_DIR}/include ${cxx_units})
  check(lint house COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/lint.py
    ${CMAKE_SOURCE_DIR})
  check(format house COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/format.py
    --check ${CLANG_FORMAT})
  check(clang house COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/clang.py
    ${CMAKE_BINARY_DIR})
  check(exports house COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/exports.py
    $<TARGET_FILE:shared> ${CMAKE_SOURCE_DIR}/include/sinew)
  check(install house COMMAND ${CMAKE_SOURCE_DIR}/tools/install_test.sh ${CMAKE_BINARY_DIR}
    ${CMAKE_C_COMPILER})
  if(TARGET command)
    check(docs house COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/docs.py
      --check $<TARGET_FILE:command>)
    # the site without the pages of examples and headers, for its links; skipped without Sphinx
    check(site house COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/site/build.py $<TARGET_FILE:command> --brief
      --out ${CMAKE_BINARY_DIR}/site)
    set_tests_properties(site PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()

# the Python package, its examples included
if(TARGET python_package AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  execute_process(COMMAND ${SNW_PYTHON} -c "import pytest" RESULT_VARIABLE pytest_status ERROR_QUIET)
  if(pytest_status EQUAL 0)
    add_library(nvrtc_of_tests MODULE tests/nvrtc.c)
    check(python python COMMAND ${SNW_PYTHON} -m pytest -q -rs -p no:cacheprovider ${CMAKE_SOURCE_DIR}/tests/python
      ENVIRONMENT "PYTHONPATH=${python_folder};SINEW_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  else()
    message(STATUS "no tests of the Python package: ${SNW_PYTHON} lacks pytest (Debian: python3-pytest)")
  endif()
endif()
