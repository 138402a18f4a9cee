# find_package(sinew), then link with sinew::sinew
include("${CMAKE_CURRENT_LIST_DIR}/sinewTargets.cmake")
