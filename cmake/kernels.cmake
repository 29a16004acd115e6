# SPDX-License-Identifier: MIT
# `cmake --build . --target kernels` compiles every kernel (or those of ROOFTILE_PREBUILT) for ROOFTILE_ARCHS into kernels-cache/ of the build folder. A
# machine with such a GPU and no compiler is given that folder: rooftile run ... --cache kernels-cache
set(ROOFTILE_ARCHS "gfx90a;gfx942" CACHE STRING "AMD GPUs that the target 'kernels' compiles for; 'rooftile list --targets'")
set(ROOFTILE_PREBUILT "" CACHE STRING "suites and kernels whose code the target 'kernels' compiles; empty: all")
set(ROOFTILE_KERNEL_CACHE ${PROJECT_BINARY_DIR}/kernels-cache)
string(REPLACE ";" "," archs "${ROOFTILE_ARCHS}")
# The build folder need not be inside the source tree, where the program would find them.
set(folders ROOFTILE_KERNELS=${PROJECT_SOURCE_DIR}/kernels ROOFTILE_CONFIGS=${PROJECT_SOURCE_DIR}/configs)
add_custom_target(kernels
                  COMMAND ${CMAKE_COMMAND} -E env ${folders} $<TARGET_FILE:rooftile> build ${ROOFTILE_PREBUILT} --arch ${archs} --cache ${ROOFTILE_KERNEL_CACHE}
                  DEPENDS rooftile VERBATIM USES_TERMINAL
                  COMMENT "Compiling kernels for ${archs} into ${ROOFTILE_KERNEL_CACHE}")
