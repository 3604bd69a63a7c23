//! Hosts, the wires between them, daemons on them, and traffic of their kernels.
use crate::process::{Daemon, PATIENCE, ip, set};
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::namespace::Namespace;
use prismux_linux::netlink;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The address of host `number`.
pub const fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, 0, number)
}

/// Hosts by number, from 1, each with an interface "radio0", and a folder for their files.
pub struct Hosts {
    pub spaces: Vec<Namespace>,
    folder: PathBuf,
    wires: usize,
}

impl Hosts {
    /// So many hosts without a wire; `name` keeps the files of concurrent tests apart.
    pub fn new(name: &str, count: usize) -> Self {
        let folder = std::env::temp_dir().join(format!("prismux-route-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let spaces: Vec<_> = (0..count).map(|_| Namespace::create().expect("a network namespace")).collect();
        for space in &spaces {
            space.enter(|| set("ipv4/conf/all/rp_filter=0")).unwrap();
            ip(space, "link set lo up");
            // What comes in by one of its ports goes out by none of the others: each hears this host alone.
            ip(space, "link add radio0 type bridge");
            ip(space, "link set radio0 up");
        }
        Self { spaces, folder, wires: 0 }
    }

    /// The namespace of host `number`.
    pub fn space(&self, number: u8) -> &Namespace {
        &self.spaces[usize::from(number) - 1]
    }

    /// Lets two hosts hear each other.
    pub fn wire(&mut self, one: u8, other: u8) {
        self.wires += 1;
        let name = format!("port{}", self.wires);
        let (one, other) = (self.space(one), self.space(other));
        let there = format!("/proc/{}/fd/{}", std::process::id(), other.as_fd().as_raw_fd());
        ip(one, &format!("link add {name} type veth peer name {name} netns {there}"));
        for space in [one, other] {
            ip(space, &format!("link set {name} master radio0"));
            ip(space, &format!("link set {name} type bridge_slave isolated on"));
            ip(space, &format!("link set {name} up"));
        }
        for space in [one, other] {
            space.enter(|| netlink::wait_until_it_sends(&name, PATIENCE)).unwrap().unwrap();
        }
    }

    /// Hosts in a line: each hears the next.
    pub fn line(name: &str, count: u8) -> Self {
        let mut hosts = Self::new(name, count.into());
        (1..count).for_each(|host| hosts.wire(host, host + 1));
        hosts
    }

    /// The arguments of host `number`'s daemon.
    fn command(&self, number: u8, protocol: &str, radio: &str) -> (Command, PathBuf) {
        let socket = self.folder.join(format!("{number}.sock"));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["route", protocol, &format!("{}/16", address(number)), radio]).arg(&socket);
        self.space(number).host(&mut command);
        (command, socket)
    }

    /// Starts the daemon of host `number` and waits until it answers.
    pub fn start(&self, number: u8, protocol: &str) -> Daemon {
        let (mut command, socket) = self.command(number, protocol, "radio0");
        Daemon::begin(&mut command, socket)
    }

    /// The same with a socket to an air for a radio.
    pub fn start_on_air(&self, number: u8, protocol: &str, air: OwnedFd) -> Daemon {
        let (mut command, socket) = self.command(number, protocol, "fd:0");
        Daemon::begin(command.stdin(air), socket)
    }

    /// Starts a daemon that does not come up, and returns what it says.
    pub fn refused(&self, number: u8, radio: &str) -> String {
        let (mut command, _) = self.command(number, "dsr", radio);
        let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
        assert!(!output.status.success(), "it came up");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Starts the daemons of all hosts.
    pub fn start_all(&self, protocol: &str) -> Vec<Daemon> {
        (1..).take(self.spaces.len()).map(|number| self.start(number, protocol)).collect()
    }

    /// Whether a datagram of this many bytes gets from one host to another and back within a second.
    pub fn echoes(&self, from: u8, to: u8, bytes: usize) -> bool {
        let bind = |number: u8| {
            let socket = self.space(number).enter(|| UdpSocket::bind((address(number), 0))).unwrap().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            socket
        };
        let (asks, answers) = (bind(from), bind(to));
        let (sent, mut room) = (vec![0x5a; bytes], vec![0; bytes + 1]);
        let there = asks.send_to(&sent, answers.local_addr().unwrap()).is_ok();
        let Some((length, back)) = uninterrupted(|| answers.recv_from(&mut room)).ok().filter(|_| there)
        else {
            return false;
        };
        assert_eq!((length, back), (bytes, asks.local_addr().unwrap()));
        answers.send_to(&room[..length], back).unwrap();
        uninterrupted(|| asks.recv(&mut room)).is_ok_and(|length| room[..length] == sent)
    }

    /// Sends so many datagrams, each with its number, and answers those that arrive.
    pub fn stream(&self, from: u8, to: u8, count: u8) -> Vec<u8> {
        let bind =
            |number: u8| self.space(number).enter(|| UdpSocket::bind((address(number), 0))).unwrap().unwrap();
        let (sender, receiver) = (bind(from), bind(to));
        let there = receiver.local_addr().unwrap();
        for number in 0..count {
            sender.send_to(&[number; 100], there).unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        receiver.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let mut room = [0; 100];
        std::iter::from_fn(|| uninterrupted(|| receiver.recv(&mut room)).ok().map(|_| room[0])).collect()
    }

    /// Sends bytes over a connection from one host to another, and waits until they are there, whole.
    pub fn transfer(&self, from: u8, to: u8, bytes: usize) {
        let listener = self.space(to).enter(|| TcpListener::bind((address(to), 0))).unwrap().unwrap();
        let there = listener.local_addr().unwrap();
        let content: Vec<u8> = (0..bytes as u32 / 4).flat_map(u32::to_be_bytes).collect();
        let (from, sent) = (self.space(from).clone(), content.clone());
        let sender = std::thread::spawn(move || {
            let mut stream =
                from.enter(|| TcpStream::connect_timeout(&there, PATIENCE)).unwrap().expect("a connection");
            stream.write_all(&sent).expect("sending");
        });
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut arrived = Vec::new();
        stream.read_to_end(&mut arrived).unwrap();
        sender.join().unwrap();
        assert!(arrived == content, "{} of {} bytes", arrived.len(), content.len());
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A setting below `/proc/sys/net`.
pub fn setting(space: &Namespace, name: &str) -> String {
    let read = || std::fs::read_to_string(format!("/proc/sys/net/{name}")).unwrap().trim().to_owned();
    space.enter(read).unwrap()
}
