# Programs of libFuzzer, built instead of tests by the preset libfuzz; run.sh runs them.

foreach(name model result message)
  add_executable(libfuzz_${name} tests/libfuzz/${name}.c)
  target_include_directories(libfuzz_${name} PRIVATE src)
  target_link_libraries(libfuzz_${name} PRIVATE sinew)
  target_link_options(libfuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()

target_link_libraries(libfuzz_result PRIVATE PkgConfig::HDF5)

# the live simulation of the command, without its socket
target_sources(libfuzz_message PRIVATE src/cli/args.c src/cli/job.c src/cli/output.c src/cli/play.c src/cli/play_record.c
  src/cli/play_send.c src/cli/stop.c)
