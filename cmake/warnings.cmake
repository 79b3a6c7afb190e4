# kevo_own(target): the warnings, sanitizers and link rules of everything that is built here.
function(kevo_own target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow
                                           -Wno-missing-field-initializers)  # designated initializers leave out on purpose
  if(KEVO_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports these inside its own std::string and std::vector at -O2 and above; Clang checks the same better.
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
                                             -Wno-stringop-overread -Wno-maybe-uninitialized)
  elseif(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 20)
    # Newer Clangs report std::get_temporary_buffer inside the std::stable_sort of GCC 12's library.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
  # GCC warns falsely of uninitialized values in sanitized code (of Boost.Graph), so those presets leave -Werror to others.
  if(KEVO_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${KEVO_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${KEVO_SANITIZE})
    if(KEVO_SANITIZE MATCHES "address")
      # Otherwise the loader corrects two million addresses at each start of a program. This took a third of the time of a short run, and
      # the tests start programs hundreds of times.
      target_link_options(${target} PRIVATE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
    endif()
  endif()
  if(KEVO_STATIC)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
