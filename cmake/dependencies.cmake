# SPDX-License-Identifier: MIT
# Libraries from the distribution (scripts/install_deps); each becomes an interface target with a short name.
find_package(Threads REQUIRED)

function(rooftile_library name header library package)
  find_path(${name}_INCLUDE NAMES ${header})
  find_library(${name}_LIBRARY NAMES ${library})
  if(NOT ${name}_INCLUDE OR NOT ${name}_LIBRARY)
    message(FATAL_ERROR "${library} is missing: scripts/install_deps installs it (Debian and Ubuntu: ${package})")
  endif()
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${${name}_INCLUDE})
  target_link_libraries(${name} INTERFACE ${${name}_LIBRARY})
endfunction()

rooftile_library(cjson cjson/cJSON.h cjson libcjson-dev)
rooftile_library(xxhash xxhash.h xxhash libxxhash-dev)
rooftile_library(libmd sha256.h md libmd-dev)
rooftile_library(boost_context boost/context/detail/fcontext.hpp boost_context libboost-context-dev)
rooftile_library(hwloc hwloc.h hwloc libhwloc-dev)
add_library(dl INTERFACE)
target_link_libraries(dl INTERFACE ${CMAKE_DL_LIBS})
add_library(pthread INTERFACE)
target_link_libraries(pthread INTERFACE Threads::Threads)
