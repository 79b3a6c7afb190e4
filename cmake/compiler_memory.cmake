# GCC collects garbage often while it compiles templates, which took a fifth of the time of the units that were measured. With these
# limits it does so seldom and needs a tenth more memory (1.2 instead of 1.1 GB for the largest unit).
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=400000")
endif()
