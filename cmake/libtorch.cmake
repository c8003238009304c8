# Target che_torch: LibTorch 2.11.0's CPU libraries and headers.
#
# A LibTorch that Torch_DIR or CMAKE_PREFIX_PATH names wins over the wheel that scripts/setup.sh
# installs. Imported targets stand in for find_package(Torch), which fails for a wheel built for CUDA
# where the CUDA toolkit is not installed.
set(che_prefixes ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH})
string(REPLACE ":" ";" che_prefixes "${che_prefixes}")
find_path(CHE_TORCH_CONFIG TorchConfig.cmake NO_DEFAULT_PATH
  PATHS ${Torch_DIR} $ENV{Torch_DIR} ${che_prefixes} PATH_SUFFIXES share/cmake/Torch)
if(CHE_TORCH_CONFIG)
  get_filename_component(che_torch_root ${CHE_TORCH_CONFIG}/../../.. ABSOLUTE)
else()
  set(che_cache $ENV{XDG_CACHE_HOME})
  if(NOT che_cache)
    set(che_cache $ENV{HOME}/.cache)
  endif()
  set(che_torch_root ${che_cache}/che/torch-2.11.0/torch)
  if(NOT EXISTS ${che_torch_root}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "LibTorch is not at ${che_torch_root}: run scripts/setup.sh, or set Torch_DIR")
  endif()
endif()
include(${che_torch_root}/share/cmake/Torch/TorchConfigVersion.cmake)
if(NOT PACKAGE_VERSION MATCHES "^2\\.11\\.")
  message(FATAL_ERROR "LibTorch 2.11 is needed; ${che_torch_root} has ${PACKAGE_VERSION}")
endif()

add_library(che_torch INTERFACE)
foreach(library torch_cpu.so c10.so gomp.so.1)
  add_library(che_${library} SHARED IMPORTED)
  set_target_properties(che_${library} PROPERTIES IMPORTED_LOCATION ${che_torch_root}/lib/lib${library})
  target_link_libraries(che_torch INTERFACE che_${library})
endforeach()
# Behind the system's folders, because the wheel carries headers of libraries that the harness takes
# from the system (fmt).
foreach(folder include include/torch/csrc/api/include)
  target_compile_options(che_torch INTERFACE "SHELL:-idirafter ${che_torch_root}/${folder}")
endforeach()
