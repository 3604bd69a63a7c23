use super::*;

/// Everything that leaves in one drain, in order; each key has `left` datagrams to send.
fn drain(turns: &mut Turns<usize>, left: &mut [u32]) -> Vec<usize> {
    let mut sent = Vec::new();
    while let Some(key) = turns.current() {
        if left[key] == 0 {
            turns.finish();
        } else {
            left[key] -= 1;
            turns.spend(Instant::ZERO);
            sent.push(key);
        }
    }
    sent
}

#[test]
fn who_has_much_to_send_waits_behind_each_turn() {
    let (mut turns, mut left) = (Turns::default(), [1000, 3]);
    turns.grant(0);
    assert_eq!(drain(&mut turns, &mut left).len(), 64);
    assert_eq!(turns.waiting_since(), Some(Instant::ZERO), "a round is due at once");
    turns.grant(0);
    assert!(drain(&mut turns, &mut left).is_empty(), "asking again brings no turn");
    turns.grant(1);
    assert_eq!(drain(&mut turns, &mut left), [1; 3], "others need not wait");
    turns.next_round();
    assert_eq!(drain(&mut turns, &mut left), [0; 64]);
}

#[test]
fn those_who_wait_take_turns_and_nobody_is_timed_at_the_end() {
    let (mut turns, mut left) = (Turns::default(), [130, 70]);
    let mut order = Vec::new();
    (0..2).for_each(|key| turns.grant(key));
    drain(&mut turns, &mut left);
    while turns.waiting_since().is_some() {
        turns.next_round();
        order.extend(drain(&mut turns, &mut left).first());
    }
    assert_eq!((order, left), (vec![0, 1, 0], [0, 0]));
}
