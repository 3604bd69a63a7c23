use super::*;

const ROOT: Digest = Digest([7; 32]);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 4718))
}

fn secret() -> CommunitySecret {
    CommunitySecret::new("a secret for these tests").unwrap()
}

/// The member at `address(host)`, which knows `others`.
fn member(host: u8, run: u64, others: &[u8]) -> Peers {
    let others: Vec<_> = others.iter().map(|host| address(*host)).collect();
    Peers::new(secret(), PublicKey([host; 32]), run, ROOT, &others)
}

fn announced(peers: &mut Peers, now: Instant) -> Vec<(SocketAddr, Vec<u8>)> {
    peers.announce(now, &PieceSet::none(4), &[2]);
    std::iter::from_fn(|| peers.next_announcement()).collect()
}

#[test]
fn two_members_believe_each_other_when_each_has_repeated_the_others_run() {
    // Only Ann knows where Ben is.
    let (mut ann, mut ben) = (member(1, 11, &[2]), member(2, 22, &[]));
    let first = announced(&mut ann, at(0));
    assert_eq!(first.len(), 1);
    assert!(announced(&mut ben, at(0)).is_empty(), "there is nobody");
    assert!(ben.hear(at(1), address(1), &first[0].1).is_none(), "it may be an old one");
    let answer = announced(&mut ben, at(50));
    assert_eq!(answer[0].0, address(1));
    let (id, announcement) = ann.hear(at(51), address(2), &answer[0].1).expect("it repeats the run");
    assert_eq!((announcement.claims, ann.peer(id).unwrap().key), (vec![2], PublicKey([2; 32])));
    // Ben's run is new to Ann: it is told at once.
    let second = announced(&mut ann, at(52));
    assert!(ben.hear(at(53), address(1), &second[0].1).is_some());
    assert!(ben.hear(at(54), address(1), &second[0].1).is_none(), "the same again");
    assert_eq!(ben.counters().replayed, 1);
}

#[test]
fn what_an_earlier_run_was_told_is_not_believed_and_takes_nobodys_place() {
    let (mut ann, mut ben) = (member(1, 11, &[2]), member(2, 22, &[1]));
    let old = announced(&mut ann, at(0)).remove(0).1;
    ben.hear(at(0), address(1), &old);
    let mut restarted = member(2, 23, &[1]);
    let to_old_run = {
        let hello = announced(&mut ben, at(10)).remove(0).1;
        ann.hear(at(10), address(2), &hello);
        announced(&mut ann, at(60)).remove(0).1
    };
    assert!(restarted.hear(at(70), address(1), &to_old_run).is_none());
    // Ann answers the new run, and is believed; a recording of the old one changes nothing.
    let hello = announced(&mut restarted, at(80)).remove(0).1;
    ann.hear(at(5000), address(2), &hello);
    let fresh = announced(&mut ann, at(5000)).remove(0).1;
    assert!(restarted.hear(at(5001), address(1), &fresh).is_some());
    assert!(restarted.hear(at(5002), address(1), &to_old_run).is_none());
    assert_eq!(restarted.addresses[&address(1)].as_ref().unwrap().run, 11);
}

#[test]
fn strangers_other_files_and_oneself_are_no_neighbours() {
    let mut ann = member(1, 11, &[1, 2]);
    let own = announced(&mut ann, at(0)).remove(0).1;
    assert!(ann.hear(at(1), address(1), &own).is_none());
    assert!(!ann.addresses.contains_key(&address(1)), "one does not announce to oneself");
    let mut stranger = member(3, 33, &[1]);
    stranger.secret = CommunitySecret::new("another secret altogether").unwrap();
    assert!(ann.hear(at(2), address(3), &announced(&mut stranger, at(2))[0].1).is_none());
    let mut elsewhere = member(4, 44, &[1]);
    elsewhere.root = Digest([8; 32]);
    assert!(ann.hear(at(3), address(4), &announced(&mut elsewhere, at(3))[0].1).is_none());
    assert_eq!((ann.counters().forged, ann.counters().other_files), (1, 1));
    assert_eq!(ann.addresses.len(), 1, "nobody else is answered");
}

#[test]
fn what_changes_is_told_soon_and_what_does_not_at_times() {
    let mut ann = member(1, 11, &[2]);
    assert_eq!(announced(&mut ann, at(0)).len(), 1);
    assert_eq!((ann.announce_at(), announced(&mut ann, at(499)).len()), (at(500), 0));
    ann.change();
    assert_eq!((ann.announce_at(), announced(&mut ann, at(499)).len()), (at(50), 1));
    assert_eq!(ann.announce_at(), at(999));
}

#[test]
fn who_comes_again_and_again_under_new_keys_leaves_room_for_others() {
    let mut ann = member(1, 11, &[]);
    let mut heard = |now: Instant, key: u8| {
        let mut other = member(2, u64::from(key) + 100, &[1]);
        (other.own_key, other.number) = (PublicKey([key; 32]), 1);
        other.addresses.insert(address(1), Some(Address { run: 11, believed_at: None }));
        let announcement = announced(&mut other, now).remove(0).1;
        ann.hear(now, address(2), &announcement).map(|(id, _)| id)
    };
    let ids: Vec<_> = (100..164).map(|key| heard(at(u64::from(key)), key)).collect();
    assert!(ids.iter().all(Option::is_some));
    assert_eq!(heard(at(1000), 200), None, "all were heard just now");
    let late = heard(at(60_000), 200);
    assert!(late.is_some() && !ids.contains(&late));
}
