//! What tests count.
use prismux_linux::namespace::Namespace;
use prismux_linux::netconf::ip;
use prismux_namespaces::dropped_by_sockets;
use std::net::UdpSocket;

const TESTS: &[prismux_namespaces::Test] =
    prismux_namespaces::tests![what_a_socket_has_no_room_for_is_counted];

fn what_a_socket_has_no_room_for_is_counted() {
    let space = Namespace::create().unwrap();
    let flood = || {
        ip("link set lo up").unwrap();
        let [to, from] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let mut sent = 0_u64;
        for _ in 0..2000 {
            sent += u64::from(from.send_to(&[0; 1000], to.local_addr().unwrap()).is_ok());
        }
        to.set_nonblocking(true).unwrap();
        sent - std::iter::from_fn(|| to.recv(&mut [0; 1000]).ok()).count() as u64
    };
    assert_eq!(dropped_by_sockets(&space), 0);
    let missing = space.enter(flood).unwrap();
    assert!(missing > 0);
    assert_eq!(dropped_by_sockets(&space), missing);
}

fn main() -> std::process::ExitCode {
    prismux_namespaces::run(&[(TESTS, 1)])
}
