# Target che_torch: LibTorch 2.11.0's CPU libraries and headers.
#
# A given Torch_DIR or CMAKE_PREFIX_PATH wins. Otherwise the wheel that scripts/setup.sh installs is
# used through imported targets, because find_package(Torch) of a wheel built for CUDA fails where
# the CUDA toolkit is not installed.
add_library(che_torch INTERFACE)
if(Torch_DIR OR DEFINED ENV{Torch_DIR} OR CMAKE_PREFIX_PATH OR DEFINED ENV{CMAKE_PREFIX_PATH})
  find_package(Torch 2.11 REQUIRED)
  list(GET TORCH_INCLUDE_DIRS 0 che_torch_include)
  get_filename_component(che_torch_root ${che_torch_include} DIRECTORY)
else()
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(che_cache $ENV{XDG_CACHE_HOME}/che)
  else()
    set(che_cache $ENV{HOME}/.cache/che)
  endif()
  set(che_torch_root ${che_cache}/torch-2.11.0/torch)
  if(NOT EXISTS ${che_torch_root}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "LibTorch is not at ${che_torch_root}: run scripts/setup.sh, or set Torch_DIR")
  endif()
endif()
foreach(library torch_cpu c10)
  add_library(che_${library} SHARED IMPORTED)
  set_target_properties(che_${library} PROPERTIES IMPORTED_LOCATION ${che_torch_root}/lib/lib${library}.so)
  target_link_libraries(che_torch INTERFACE che_${library})
endforeach()
# Behind the system's folders, because the wheel carries headers of libraries that the harness takes
# from the system (fmt).
foreach(folder include include/torch/csrc/api/include)
  target_compile_options(che_torch INTERFACE "SHELL:-idirafter ${che_torch_root}/${folder}")
endforeach()
