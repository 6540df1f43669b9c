# Says for which cards CUDA kernels are compiled. A file of its own, so that it can be tried without a build
# (tests/kernels/cuda/try_cards.cmake).

# cards_here(out): the compute capabilities of the machine's cards that our kernels run on, each once; nothing where
# there are none.
function(cards_here out)
    set(found "")
    find_program(SPILLWAY_NVIDIA_SMI nvidia-smi)
    mark_as_advanced(SPILLWAY_NVIDIA_SMI)
    if(SPILLWAY_NVIDIA_SMI)
        execute_process(COMMAND ${SPILLWAY_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
            OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET)
        if(NOT failed)
            string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${said}")
            string(REPLACE "." "" found "${found}")
            list(REMOVE_DUPLICATES found)
            list(SORT found COMPARE NATURAL)
            foreach(card IN LISTS found)
                if(card LESS 75) # which the compiler would refuse, too
                    list(REMOVE_ITEM found ${card})
                endif()
            endforeach()
        endif()
    endif()
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

# cards_to_compile_for(out wanted): those; in place of `native` the cards that are here, else 90.
function(cards_to_compile_for out wanted)
    if(wanted STREQUAL "native")
        cards_here(wanted)
        if(NOT wanted)
            set(wanted 90)
        endif()
    endif()
    set(${out} "${wanted}" PARENT_SCOPE)
endfunction()

# ptx_for(out cards): the driver compiles PTX for 8.0 for every later card, also for those still to come. In PTX for 9.0
# kernels can also begin before the one before them has ended, and the driver has it to choose from for cards from 10.0
# on; it takes no time where kernels are compiled for 9.0 themselves, since they are made from it. A build for one card
# takes the PTX of that card instead: another pass of the compiler would take half of a dev build's time.
function(ptx_for out cards)
    list(LENGTH cards count)
    set(ptx 80)
    if("90" IN_LIST cards)
        list(APPEND ptx 90)
    endif()
    if(count EQUAL 1)
        set(ptx ${cards})
    endif()
    set(${out} "${ptx}" PARENT_SCOPE)
endfunction()
