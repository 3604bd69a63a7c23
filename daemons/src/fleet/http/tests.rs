use super::post;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(300);

/// A server that says this to whoever asks, and then waits for as long as it is asked to.
fn server(says: &'static [u8], waits: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut asker, _) = listener.accept().unwrap();
        let _ = asker.read(&mut [0; 1000]);
        let _ = asker.write_all(says);
        std::thread::sleep(waits);
    });
    address
}

#[test]
fn an_answer_is_read_to_its_end_and_line_by_line() {
    let says = b"HTTP/1.0 200 OK\r\nA: b\r\n\r\none\ntwo\n";
    let whole = post(server(says, Duration::ZERO), "/", "{}", Some("token"), PATIENCE * 10).unwrap();
    assert_eq!((whole.status, whole.rest(PATIENCE * 10).unwrap()), (200, b"one\ntwo\n".to_vec()));
    let mut lines = post(server(says, PATIENCE * 4), "/", "{}", None, PATIENCE * 10).unwrap();
    assert_eq!(lines.line(PATIENCE).unwrap(), Some(b"one\n".to_vec()));
    assert_eq!(lines.line(PATIENCE).unwrap(), Some(b"two\n".to_vec()));
    assert_eq!(lines.line(PATIENCE / 3).unwrap(), None, "nothing for now");
}

#[test]
fn who_says_nothing_or_nonsense_is_not_waited_for() {
    let long = Duration::from_secs(5);
    for says in [&b""[..], b"HTTP/1.0 200 OK\r\n", b"\0\0\r\n\r\n", b"HTTP/1.0 x\r\n\r\n", b"SSH-2.0-x\r\n"] {
        let start = Instant::now();
        assert!(post(server(says, long), "/", "{}", None, PATIENCE).is_err(), "{says:?}");
        assert!(start.elapsed() < long, "{says:?}");
    }
    assert!(post("127.0.0.1:1".parse().unwrap(), "/", "{}", None, PATIENCE).is_err());
}
