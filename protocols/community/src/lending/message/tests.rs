use super::{ASK_BYTES, Answer, Ask, Malformed, Receiver};
use crate::lending::Verdict;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

fn ask(count: usize) -> Ask {
    let receiver = |k: usize| match k % 2 {
        0 => Receiver { address: "10.77.0.2".parse().unwrap(), length: 32 },
        _ => Receiver { address: "fd77::".parse().unwrap(), length: 64 },
    };
    Ask {
        name: "ann".to_string(),
        proxy: "[2001:db8::1]:51820".parse().unwrap(),
        proxy_key: [7; 32],
        receivers: (0..count).map(receiver).collect(),
    }
}

fn answer(verdict: Verdict) -> Answer {
    Answer { nonce: 0x0102_0304_0506_0708, verdict, key: [9; 32], name: "kitchen-lte".to_string() }
}

#[test]
fn messages_read_back() {
    for count in 1..=8 {
        let bytes = ask(count).emit(count as u64).unwrap();
        assert_eq!(bytes.len(), ASK_BYTES);
        assert_eq!(Ask::parse(&bytes), Ok((count as u64, ask(count))));
    }
    for verdict in [Verdict::Waiting, Verdict::Granted, Verdict::Refused, Verdict::Full] {
        let bytes = answer(verdict).emit().unwrap();
        assert!(bytes.len() < ASK_BYTES, "nobody gets more than he has sent");
        assert_eq!(Answer::parse(&bytes), Ok(answer(verdict)));
    }
}

#[test]
fn what_makes_no_sense_is_not_written() {
    for name in ["", "a b", "..\n", "ü", &"x".repeat(33)] {
        let nameless = Ask { name: name.to_string(), ..ask(1) };
        assert_eq!(nameless.emit(1), Err(Malformed::Name), "{name:?}");
    }
    let too_long = vec![Receiver { address: "10.0.0.0".parse().unwrap(), length: 33 }];
    for receivers in [Vec::new(), ask(9).receivers, too_long] {
        assert_eq!(Ask { receivers, ..ask(1) }.emit(1), Err(Malformed::Address));
    }
}

#[test]
fn every_cut_and_every_changed_byte_is_refused_or_read() {
    let whole = [ask(3).emit(5).unwrap(), answer(Verdict::Granted).emit().unwrap()];
    for whole in &whole {
        for length in 0..whole.len() {
            assert!(Ask::parse(&whole[..length]).is_err() && Answer::parse(&whole[..length]).is_err());
        }
        for place in 0..whole.len() {
            for value in [0, 1, 4, 6, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] = value;
                if let Ok((nonce, ask)) = Ask::parse(&bytes) {
                    assert_eq!(ask.emit(nonce), Ok(bytes.clone()));
                }
                if let Ok(answer) = Answer::parse(&bytes) {
                    assert_eq!(answer.emit(), Ok(bytes));
                }
            }
        }
    }
}
