# The tests of the worker processes and of what they share.
add_library(pinion_test_coord STATIC fake_coord.c)
target_link_libraries(pinion_test_coord PUBLIC pinion_test_files nng::nng)
add_library(pinion_test_prove STATIC prove_fixture.c)
target_link_libraries(pinion_test_prove PUBLIC pinion_synth pinion_test_files)

pinion_add_unit_test(test_client pinion_test_coord)
pinion_add_unit_test(test_keys pinion_gpud pinion_test_files)
pinion_add_unit_test(test_pipeline pinion_gpud pinion_test_prove)
pinion_add_unit_test(test_workers pinion_gpud pinion_test_prove pinion_test_coord)
