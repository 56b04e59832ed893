# The tests of shm/.
foreach(name IN ITEMS
    test_arena test_arena_host test_freemap test_ledger test_ledger_attach test_ledger_race
    test_names test_process test_shm_users test_slice)
  pinion_add_unit_test(${name} pinion_shm)
endforeach()

# The tests of the desk share an office around it. Keys are texts there, so the store's inspector of
# real ones is not linked.
add_library(pinion_test_desk STATIC desk_fixture.c)
target_link_libraries(pinion_test_desk PUBLIC pinion_coord pinion_test_files)
foreach(name IN ITEMS
    test_desk_jobs test_desk_random test_desk_room test_desk_states)
  pinion_add_unit_test(${name} pinion_test_desk)
endforeach()

# The server runs as a process of its own.
add_library(pinion_test_client STATIC coord_client.c)
target_link_libraries(pinion_test_client PUBLIC pinion_shm PkgConfig::JANSSON nng::nng)
add_executable(coord_actor coord_actor.c)
target_link_libraries(coord_actor PRIVATE pinion_coord pinion_test_client)
pinion_add_unit_test(test_coord_server pinion_coord pinion_test_client pinion_test_files)
target_compile_definitions(test_coord_server PRIVATE
  COORD_ACTOR="$<TARGET_FILE:coord_actor>")
add_dependencies(test_coord_server coord_actor)
set_tests_properties(unit.test_coord_server PROPERTIES LABELS integration TIMEOUT 120)
pinion_add_unit_test(test_wire pinion_coord)
pinion_add_unit_test(test_store pinion_shm pinion_test_files)
