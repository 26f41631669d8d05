# How a part of the project becomes a library: one static library a folder, includes written from the root.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# attn_library(NAME sources… [LINK libs…]): compiler parts; they see MLIR and LLVM.
function(attn_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_BINARY_DIR} ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM fmt::fmt)
endfunction()

# attn_tool(NAME sources… [LINK libs…]): a program in build/bin.
function(attn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()
