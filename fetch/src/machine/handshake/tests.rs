use super::*;
use crate::channel::{Message, OpenError};
use crate::wire::Datagram;
use std::sync::atomic::{AtomicU8, Ordering};

/// Fresh randomness at each call.
fn entropy() -> Entropy {
    static SEED: AtomicU8 = AtomicU8::new(0);
    Entropy::from_seed([SEED.fetch_add(1, Ordering::Relaxed); 32])
}

fn identity() -> Identity {
    Identity { size: 5, digest: Digest([6; 32]) }
}

fn ready() -> Answer {
    Answer::Ready { server: ConnectionId(4), reset_token: [5; RESET_TOKEN_BYTES], identity: identity() }
}

/// Both ends of a connection.
fn connected() -> (Channel, Channel) {
    let key = ServerKey::generate(&mut entropy());
    let (mut client, hello) = Initiator::new(&key.public(), "a", &mut entropy());
    let server = Responder::read(&key, &hello, &mut entropy()).expect("made for this key");
    let (welcome, at_server) = server.answer(&ready(), ConnectionId(3)).expect("fits");
    let (_, at_client) = client.finish(&welcome, &mut Vec::new()).expect("made by this key");
    (at_client.expect("ready"), at_server)
}

#[test]
fn a_request_reaches_the_server_and_its_answer_the_client() {
    let key = ServerKey::generate(&mut entropy());
    let (mut client, hello) = Initiator::new(&key.public(), "dir/file", &mut entropy());
    assert!(!hello.windows(4).any(|part| part == b"file"), "the path is sealed");
    let server = Responder::read(&key, &hello, &mut entropy()).expect("made for this key");
    assert_eq!(server.path(), "dir/file");
    let (welcome, _) = server.answer(&ready(), ConnectionId(3)).expect("fits");
    let (answer, channel) = client.finish(&welcome, &mut Vec::new()).expect("made by this key");
    assert_eq!(answer, ready());
    assert_eq!(channel.expect("ready").peer(), ConnectionId(4));
}

#[test]
fn a_server_with_another_key_neither_reads_the_request_nor_can_answer_it() {
    let (key, other) = (ServerKey::generate(&mut entropy()), ServerKey::generate(&mut entropy()));
    let (mut client, hello) = Initiator::new(&key.public(), "a", &mut entropy());
    assert!(Responder::read(&other, &hello, &mut entropy()).is_none());
    let (_, hello_to_other) = Initiator::new(&other.public(), "a", &mut entropy());
    let impostor = Responder::read(&other, &hello_to_other, &mut entropy()).expect("its own key");
    let (welcome, _) = impostor.answer(&ready(), ConnectionId(3)).expect("fits");
    assert!(client.finish(&welcome, &mut Vec::new()).is_none());
    // The true answer is taken all the same.
    let server = Responder::read(&key, &hello, &mut entropy()).expect("its own key");
    let (welcome, _) = server.answer(&Answer::Preparing, ConnectionId(3)).expect("fits");
    assert!(matches!(client.finish(&welcome, &mut Vec::new()), Some((Answer::Preparing, None))));
}

#[test]
fn answers_are_read_as_they_were_written() {
    let refusals = [Refusal::NotFound, Refusal::Busy, Refusal::Unreadable, Refusal::Malformed];
    for answer in refusals.map(Answer::Refused).into_iter().chain([ready(), Answer::Preparing]) {
        assert_eq!(Answer::parse(&answer.emit()), Some(answer));
    }
    let endless = Identity { size: u64::MAX, ..identity() };
    let answer =
        Answer::Ready { server: ConnectionId(1), reset_token: [0; RESET_TOKEN_BYTES], identity: endless };
    assert_eq!(Answer::parse(&answer.emit()), None, "no position can be beyond its end");
}

#[test]
fn what_one_end_seals_the_other_opens_once_and_nobody_else() {
    let ((mut client, mut server), (_, mut stranger)) = (connected(), connected());
    let (mut message, mut datagram, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    Message::Rcp(b"hello").emit(&mut message);
    client.seal(&message, &mut datagram);
    let Ok(Datagram::Sealed { to, nonce, noise }) = Datagram::parse(&datagram) else { panic!("sealed") };
    assert_eq!(to, ConnectionId(4));
    assert_eq!(stranger.open(nonce, noise, &mut opened), Err(OpenError::Forged));
    for index in 0..noise.len() {
        let mut forged = noise.to_vec();
        forged[index] ^= 1;
        assert_eq!(server.open(nonce, &forged, &mut opened), Err(OpenError::Forged), "byte {index}");
    }
    assert_eq!(server.open(nonce + 1, noise, &mut opened), Err(OpenError::Forged), "another number");
    assert_eq!(server.open(nonce, noise, &mut opened), Ok(()), "forgeries shut nothing out");
    assert_eq!(Message::parse(&opened), Some(Message::Rcp(b"hello")));
    assert_eq!(server.open(nonce, noise, &mut opened), Err(OpenError::Replayed));
    assert_eq!(client.open(nonce, noise, &mut opened), Err(OpenError::Forged), "sent back to its maker");
}
