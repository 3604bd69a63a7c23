//! Reading type information: a small one made here, damaged ones, and the running kernel's.
use super::{HEADER_BYTES, MAGIC, Position, TypeInfo, kind, words};

/// `struct outer { int first; struct { u8 low:5, high:3; }; }` and a function.
fn example() -> Vec<u8> {
    let strings = b"\0outer\0first\0low\0high\0act\0";
    let types: Vec<u32> = [
        // 1: int.
        vec![0, kind::INT << 24, 4, 32],
        // 2: the nameless structure with bit fields.
        vec![0, 1 << 31 | kind::STRUCT << 24 | 2, 1, 13, 1, 5 << 24, 17, 1, 3 << 24 | 5],
        // 3: outer.
        vec![1, kind::STRUCT << 24 | 2, 8, 7, 1, 0, 0, 2, 32],
        // 4: act.
        vec![22, kind::FUNCTION << 24, 0],
    ]
    .concat();
    let mut bytes = MAGIC.to_ne_bytes().to_vec();
    bytes.extend([1, 0]);
    let length = types.len() as u32 * 4;
    for field in [HEADER_BYTES as u32, 0, length, length, strings.len() as u32] {
        bytes.extend(field.to_ne_bytes());
    }
    types.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(strings);
    bytes
}

#[test]
fn members_are_found_by_name_also_in_nameless_structures() {
    let info = TypeInfo::parse(&example()).unwrap();
    let outer = info.structure("outer").unwrap();
    assert_eq!((outer, info.bytes(outer), info.function("act")), (3, Some(8), Some(4)));
    assert_eq!(info.position(outer, "first").and_then(Position::offset), Some(0));
    assert_eq!(info.position(outer, "high"), Some(Position { bit_offset: 37, bits: 3 }));
    assert_eq!(info.position(outer, "low").and_then(Position::offset), Some(4));
    assert_eq!(info.position(outer, "high").and_then(Position::offset), None, "not at a byte's beginning");
    assert_eq!((info.position(outer, "none"), info.member_index(outer, "first")), (None, Some(0)));
}

#[test]
fn damaged_information_is_refused_or_read_and_never_more() {
    let whole = example();
    for length in 0..whole.len() {
        let _ = TypeInfo::parse(&whole[..length]);
    }
    for at in 0..whole.len() {
        for value in [0x00, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            let _ = TypeInfo::parse(&damaged);
        }
    }
    assert!(TypeInfo::parse(&whole[..HEADER_BYTES + 20]).is_none(), "cut off");
}

#[test]
fn what_is_made_for_a_map_can_be_read() {
    let made = words(7);
    assert!(TypeInfo::parse(&made.bytes).is_some());
}

#[test]
fn the_running_kernel_is_understood() {
    let Ok(info) = TypeInfo::of_the_kernel() else {
        println!("skipped: this kernel shows no type information");
        return;
    };
    let sock = info.structure("tcp_sock").unwrap();
    for name in ["snd_una", "snd_nxt", "snd_cwnd", "snd_ssthresh", "inet_conn.icsk_ca_state"] {
        assert!(info.position(sock, name).and_then(Position::offset).is_some(), "{name}");
    }
}
