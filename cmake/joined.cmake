# kevo_join(RESULT source...): gives units that include up to KEVO_JOINED_MOST sources of one folder each, or of the folders of one line of
# KEVO_FOLDERS_TOGETHER. Compiling sources together took between a quarter and 40 % less processor time in the folders that were measured,
# because the templates and headers that they share are compiled once; twelve at a time took a further 35 to 40 % less than five, and
# small folders together half to two thirds of what they took alone. Names in unnamed namespaces must therefore differ within a unit. Builds
# with KEVO_JOINED=OFF (the presets tsan and debug) compile each source alone, and scripts/tidy.sh reads each changed source alone, so
# that a source has to include what it needs. Units name their sources by relative paths, so that a compile cache knows them again in
# another folder.
option(KEVO_JOINED "Compile the sources of a folder several at a time" OFF)
set(KEVO_JOINED_MOST 60)
# Folders that are compiled as one. The unit has the name of the first folder of its line, from which it also has its optimization level
# (kevo_compile_quickly in cmake/program.cmake): a line has folders of one level. A line for each layer would save more processor time
# still, but then a machine with many processors waits for the largest unit.
set(KEVO_FOLDERS_TOGETHER
    "src/base/json src/base/settings src/base/sqlite src/base/style src/base/tensor_file src/base/text"
    "fitness/attack fitness/build fitness/cuda/compile fitness/cuda/tools"
    "fitness/command fitness/evaluator fitness/cascade fitness/machine fitness/pool fitness/process fitness/torch"
    "fitness/cuda/driver fitness/cuda/wire fitness/cuda/python fitness/cuda/worker fitness/cuda/measure"
    "operators/agent operators/llm"
    "operators/numbers operators/policy operators/splice operators/tune"
    "operators/rewrite operators/rewrite/actions operators/rewrite/cuda"
    "src/display src/report"
    "src/export src/export/bundle"
    "src/import src/rejudge src/remote src/suite src/task"
    "src/journal src/learn src/lab src/lab/strategies")
# Sources that use the same names as others of their folder.
set(KEVO_NOT_JOINED src/llm/http.cpp)

function(kevo_join result)
  if(NOT KEVO_JOINED)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(units)
  set(folders)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
    file(RELATIVE_PATH inside ${PROJECT_SOURCE_DIR} ${source})
    get_filename_component(folder ${inside} DIRECTORY)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated OR inside IN_LIST KEVO_NOT_JOINED)
      list(APPEND units ${source})
      continue()
    endif()
    foreach(line IN LISTS KEVO_FOLDERS_TOGETHER)
      string(REPLACE " " ";" together ${line})
      if(folder IN_LIST together)
        list(GET together 0 folder)
      endif()
    endforeach()
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH sources_of_${folder} count)
    math(EXPR parts "(${count} + ${KEVO_JOINED_MOST} - 1) / ${KEVO_JOINED_MOST}")
    set(text_1)
    set(index 0)
    foreach(source IN LISTS sources_of_${folder})
      math(EXPR part "${index} * ${parts} / ${count} + 1")
      file(RELATIVE_PATH included ${PROJECT_BINARY_DIR}/joined/${folder} ${source})
      string(APPEND text_${part} "#include \"${included}\"\n")
      math(EXPR index "${index} + 1")
    endforeach()
    foreach(part RANGE 1 ${parts})
      set(unit ${PROJECT_BINARY_DIR}/joined/${folder}/part_${part}.cpp)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text_${part}}" @ONLY)
      set(text_${part})
      list(APPEND units ${unit})
    endforeach()
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# kevo_join_program(RESULT name source...): gives one unit that includes the sources of a program, which are also compiled in a library.
function(kevo_join_program result name)
  if(NOT KEVO_JOINED)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(text)
  foreach(source IN LISTS ARGN)
    file(REAL_PATH ${source} source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    file(RELATIVE_PATH included ${PROJECT_BINARY_DIR}/joined ${source})
    string(APPEND text "#include \"${included}\"\n")
  endforeach()
  set(unit ${PROJECT_BINARY_DIR}/joined/${name}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  set(${result} ${unit} PARENT_SCOPE)
endfunction()
