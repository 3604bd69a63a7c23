use super::end_turn;
use crate::shared::{AckPacer, MANY_WAITING};

/// Flow 0 has had its turn, found no room and stands behind so many others.
fn after_a_turn(others: u32, lacks_room: bool) -> AckPacer {
    let mut waiting: alloc::collections::VecDeque<u32> = (1..=others).collect();
    waiting.push_back(0);
    AckPacer { waiting, turn_of: Some(0), turn_lacks_room: lacks_room, ..AckPacer::default() }
}

#[test]
fn among_many_the_first_keeps_its_place_until_there_is_room() {
    let mut pacer = after_a_turn(MANY_WAITING as u32, true);
    assert!(end_turn(&mut pacer) && pacer.first_lacks_room);
    assert_eq!((pacer.waiting.front(), pacer.waiting.get(1)), (Some(&0), Some(&1)));
    // A turn beside that of the first decides nothing.
    pacer.turn_of = None;
    assert!(!end_turn(&mut pacer) && pacer.first_lacks_room);
    // It has got what it waited for.
    pacer.waiting.rotate_left(1);
    (pacer.turn_of, pacer.turn_lacks_room) = (Some(0), false);
    assert!(!end_turn(&mut pacer) && !pacer.first_lacks_room);
    assert_eq!(pacer.waiting.front(), Some(&1));
}

#[test]
fn few_take_turns_whatever_they_find() {
    let mut pacer = after_a_turn(MANY_WAITING as u32 - 1, true);
    assert!(!end_turn(&mut pacer) && !pacer.first_lacks_room);
    assert_eq!(pacer.waiting.front(), Some(&1));
}
