# The Python package: an extension module over the public headers (CFFI, limited ABI) beside the package's Python files,
# in ${CMAKE_BINARY_DIR}/python, which may stand in PYTHONPATH. Debian's own interpreter is used, since its packages
# (python3-cffi, python3-numpy) belong to it; another python3 that stands first in the path does not matter.
set(SNW_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter with cffi and numpy")
if(NOT EXISTS ${SNW_PYTHON}) # an environment in which pip built the package, and which is gone
  set(SNW_PYTHON /usr/bin/python3 CACHE FILEPATH "Python interpreter with cffi and numpy" FORCE)
endif()
set(python_folder ${CMAKE_BINARY_DIR}/python)
if(SNW_SANITIZE)
  return()
endif()
execute_process(COMMAND ${SNW_PYTHON} -c "import cffi, numpy, sysconfig; print(sysconfig.get_paths()['include'])"
  OUTPUT_VARIABLE python_include OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE python_status)
if(NOT python_status EQUAL 0 OR NOT EXISTS ${python_include}/Python.h)
  message(STATUS "no Python package: ${SNW_PYTHON} lacks cffi, numpy or Python.h "
    "(Debian: python3-cffi, python3-numpy, python3-dev)")
  return()
endif()

file(GLOB python_sources RELATIVE ${CMAKE_SOURCE_DIR}/python CONFIGURE_DEPENDS python/sinew/*.py python/sinew/*/*.py
  python/sinew/py.typed python/sinew/*.pyi python/sinew/*/*.yaml)
file(GLOB python_headers CONFIGURE_DEPENDS include/sinew/*.h)
add_custom_command(OUTPUT python_extension.c
  COMMAND ${SNW_PYTHON} ${CMAKE_SOURCE_DIR}/python/bindings.py ${CMAKE_SOURCE_DIR}/include python_extension.c
    ${CMAKE_C_COMPILER}
  DEPENDS python/bindings.py python/dlpack.h ${python_headers} VERBATIM)
add_library(python_extension MODULE python_extension.c)
set_target_properties(python_extension PROPERTIES PREFIX "" OUTPUT_NAME _sinew SUFFIX .abi3.so
  LIBRARY_OUTPUT_DIRECTORY ${python_folder}/sinew)
target_include_directories(python_extension SYSTEM PRIVATE ${python_include})
target_compile_options(python_extension PRIVATE -w) # generated code
target_link_libraries(python_extension PRIVATE sinew)
target_link_options(python_extension PRIVATE LINKER:--exclude-libs,ALL)
set(python_copies "")
foreach(source ${python_sources})
  add_custom_command(OUTPUT ${python_folder}/${source}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/python/${source} ${python_folder}/${source}
    DEPENDS python/${source} VERBATIM)
  list(APPEND python_copies ${python_folder}/${source})
endforeach()
add_custom_target(python_package ALL DEPENDS ${python_copies} python_extension)

# Debian's place for packages of a distribution, or that for local ones
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(python_site lib/python3/dist-packages)
else()
  execute_process(COMMAND ${SNW_PYTHON} -c "import sys; print('%d.%d' % sys.version_info[:2])"
    OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(python_site lib/python${python_version}/dist-packages)
endif()
install(DIRECTORY ${python_folder}/sinew DESTINATION ${python_site} PATTERN __pycache__ EXCLUDE)
