//! The network that the tests run on:
//!
//! ```text
//!                              ┌─ 10.2.1.0/24 ─ m1 ─ 10.3.1.0/24 ─┐
//!   sender ─ 10.1.0.0/24 ─ proxy                                   receiver 10.77.0.2
//!                              └─ 10.2.2.0/24 ─ m2 ─ 10.3.2.0/24 ─┘
//! ```
//!
//! and the same with `fd` in front. The receiver answers through m1.
use crate::process::{Daemon, PATIENCE, ip, set};
use prismux_linux::namespace::Namespace;
use prismux_linux::netlink;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const SENDER: &str = "10.1.0.1";
pub const SENDER_V6: &str = "fd01::1";
pub const TOKEN: &str = "a token for tests only";

pub struct Network {
    pub sender: Namespace,
    pub proxy: Namespace,
    pub members: [Namespace; 2],
    pub receiver: Namespace,
    pub directory: PathBuf,
}

impl Network {
    /// Makes the network; `name` keeps the files of concurrent tests apart.
    pub fn new(name: &str) -> Self {
        let space = || Namespace::create().expect("a network namespace");
        let directory = std::env::temp_dir().join(format!("prismux-daemons-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let network = Self {
            sender: space(),
            proxy: space(),
            members: [space(), space()],
            receiver: space(),
            directory,
        };
        network.build();
        network
    }

    fn build(&self) {
        let all = [&self.sender, &self.proxy, &self.members[0], &self.members[1], &self.receiver];
        for space in all {
            // Duplicate address detection would keep the links silent for a second or two.
            let settings = [
                "ipv4/ip_forward=1",
                "ipv4/conf/all/rp_filter=1",
                "ipv6/conf/all/forwarding=1",
                "ipv6/conf/all/accept_dad=0",
                "ipv6/conf/default/accept_dad=0",
                // In every kernel, and without BBR's suspicion that half a link's loss is a policer, which it remembers
                // for many round trips.
                "ipv4/tcp_congestion_control=reno",
            ];
            space.enter(|| settings.iter().for_each(|s| set(s))).unwrap();
            ip(space, "link set lo up");
        }
        wire(&self.sender, "wan", "1.0.1", &self.proxy, "wan", "1.0.2");
        for (member, n) in self.members.iter().zip(1..) {
            wire(&self.proxy, &format!("m{n}"), &format!("2.{n}.1"), member, "wwan", &format!("2.{n}.2"));
            wire(member, "wlan", &format!("3.{n}.1"), &self.receiver, &format!("m{n}"), &format!("3.{n}.2"));
            ip(member, &format!("route add 10.77.0.2 via 10.3.{n}.2"));
            ip(member, &format!("-6 route add fd77::2 via fd03:{n}::2"));
            ip(member, &format!("route add default via 10.2.{n}.1"));
        }
        // Data arrives over both wireless LANs, answers leave over one.
        self.receiver
            .enter(|| ["all", "m1", "m2"].map(|d| set(&format!("ipv4/conf/{d}/rp_filter=0"))))
            .unwrap();
        ip(&self.receiver, "address add 10.77.0.2/32 dev lo");
        ip(&self.receiver, "-6 address add fd77::2/128 dev lo nodad");
        ip(&self.receiver, "route add default via 10.3.1.1 src 10.77.0.2");
        ip(&self.receiver, "-6 route add default via fd03:1::1 src fd77::2");
        ip(&self.sender, "route add default via 10.1.0.2");
        ip(&self.sender, "-6 route add default via fd01::2");
    }

    /// Writes a configuration and starts the proxy, by both transports.
    pub fn start_proxy(&self) -> Daemon {
        self.start_proxy_with("0.0.0.0:4754", "")
    }

    /// As [`Network::start_proxy`], with a recording in `file`.
    pub fn start_proxy_recording(&self, file: &Path) -> Daemon {
        self.start_proxy_as(&format!("record = {file:?}\n"), "0.0.0.0:4754", "")
    }

    /// As [`Network::start_proxy`], with GRE in UDP at another address, and more configuration.
    pub fn start_proxy_with(&self, udp: &str, more: &str) -> Daemon {
        self.start_proxy_as("", udp, more)
    }

    /// As [`Network::start_proxy`], without receipts.
    pub fn start_proxy_declining(&self) -> Daemon {
        self.start_proxy_as("", "0.0.0.0:4754\"\nreceipts = false\n#", "")
    }

    /// As [`Network::start_proxy`], with repair packets.
    pub fn start_proxy_repairing(&self) -> Daemon {
        self.start_proxy_as("", "0.0.0.0:4754\"\nfec = true\n#", "")
    }

    /// As [`Network::start_proxy`], with so many workers.
    pub fn start_proxy_with_workers(&self, workers: usize) -> Daemon {
        self.start_proxy_as(&format!("workers = {workers}\n"), "0.0.0.0:4754", "")
    }

    fn start_proxy_as(&self, first: &str, udp: &str, more: &str) -> Daemon {
        let config = format!(
            "{first}receivers = [\"10.77.0.2\", \"fd77::2\"]\ntoken = \"{TOKEN}\"\nstatus_socket = {:?}\n\
             [tunnel]\ngre = \"0.0.0.0\"\nudp = \"{udp}\"\n[liveness]\ndead_after = \"1500 ms\"\n{more}",
            self.socket("proxy")
        );
        self.start(&self.proxy, "proxy", "proxy", &config)
    }

    /// Starts member `n` (1 or 2) with a tunnel by `transport`: "gre", "udp", or "udp6" for UDP over IPv6.
    pub fn start_member(&self, n: usize, transport: &str) -> Daemon {
        self.start_member_as(n, transport, &format!("m{n}"), TOKEN)
    }

    /// As [`Network::start_member`], under another name or with another token.
    pub fn start_member_as(&self, n: usize, transport: &str, name: &str, token: &str) -> Daemon {
        let proxy = match transport {
            "udp6" => format!("udp:[fd02:{n}::1]:4754"),
            _ => format!("{transport}:10.2.{n}.1"),
        };
        self.start_member_to(n, &proxy, name, token)
    }

    /// Starts member `n` with its proxy at another address than usual.
    pub fn start_member_at(&self, n: usize, proxy: &str) -> Daemon {
        self.start_member_to(n, proxy, &format!("m{n}"), TOKEN)
    }

    fn start_member_to(&self, n: usize, proxy: &str, name: &str, token: &str) -> Daemon {
        let config = format!(
            "name = \"{name}\"\ntoken = \"{token}\"\nreceivers = [\"10.77.0.2\", \"fd77::2\"]\nstatus_socket = {:?}\n\
             [tunnel]\nproxy = \"{proxy}\"\nhello = \"400 ms\"\n",
            self.socket(&format!("m{n}"))
        );
        self.start(&self.members[n - 1], "member", &format!("m{n}"), &config)
    }

    fn command(&self, space: &Namespace, role: &str, name: &str, config: &str) -> Command {
        let file = self.directory.join(format!("{name}.toml"));
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(role).arg(&file);
        space.host(&mut command);
        command
    }

    /// Starts a daemon with its status socket at [`Network::socket`], and waits until it answers.
    pub fn start(&self, space: &Namespace, role: &str, name: &str, config: &str) -> Daemon {
        let mut command = self.command(space, role, name, config);
        Daemon::begin(&mut command, self.socket(name))
    }

    /// Starts a daemon that does not come up, and returns what it says.
    pub fn refused(&self, space: &Namespace, role: &str, config: &str) -> String {
        let mut command = self.command(space, role, "refused", config);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "it came up: {said}");
        said
    }

    /// The status socket of the daemon called `name`.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.sock"))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for (name, space) in [("sender", &self.sender), ("receiver", &self.receiver)] {
                // What the kernel knows of the connections, where `ss` is installed.
                let sockets = space.enter(|| Command::new("ss").arg("-tino").output());
                if let Ok(Ok(output)) = sockets {
                    eprintln!("{name}: {}", String::from_utf8_lossy(&output.stdout));
                }
            }
            let all = [&self.sender, &self.proxy, &self.members[0], &self.members[1], &self.receiver];
            for (name, space) in ["sender", "proxy", "m1", "m2", "receiver"].iter().zip(all) {
                // Its last column counts what a socket had no room for.
                let sockets = space.enter(|| std::fs::read_to_string("/proc/thread-self/net/udp"));
                if let Ok(Ok(sockets)) = sockets {
                    eprintln!("{name}: {sockets}");
                }
            }
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// What the daemons of a bond tell.
impl Daemon {
    /// The events of one kind on the status page, as text.
    pub fn events(&self, kind: &str) -> Vec<String> {
        let status = self.status().expect("the daemon answers");
        let events = status["events"].as_array().unwrap().iter();
        events.filter(|event| event["event"] == kind).map(ToString::to_string).collect()
    }

    /// Whether a member's proxy knows it.
    pub fn is_registered(&self) -> bool {
        self.status().is_some_and(|status| status["state"] == "registered")
    }

    /// Links that are up, by the proxy's status page.
    pub fn links_up(&self) -> Vec<String> {
        let status = self.status().expect("the daemon answers");
        let links = status["links"].as_array().unwrap().iter();
        links
            .filter(|link| link["up"] == true)
            .map(|link| link["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

/// A virtual Ethernet cable. Addresses are given without their first number: "1.0.2" makes 10.1.0.2 and fd01::2,
/// "2.1.2" makes 10.2.1.2 and fd02:1::2.
fn wire(a: &Namespace, a_device: &str, a_host: &str, b: &Namespace, b_device: &str, b_host: &str) {
    let other = format!("/proc/{}/fd/{}", std::process::id(), b.as_fd().as_raw_fd());
    ip(a, &format!("link add {a_device} type veth peer name {b_device} netns {other}"));
    for (space, device, host) in [(a, a_device, a_host), (b, b_device, b_host)] {
        let v6 = match host.split('.').collect::<Vec<_>>()[..] {
            [region, "0", host] => format!("fd0{region}::{host}"),
            [region, link, host] => format!("fd0{region}:{link}::{host}"),
            _ => panic!("{host} has three numbers"),
        };
        ip(space, &format!("address add 10.{host}/24 dev {device}"));
        ip(space, &format!("-6 address add {v6}/64 dev {device} nodad"));
        ip(space, &format!("link set {device} up"));
    }
    for (space, device) in [(a, a_device), (b, b_device)] {
        space.enter(|| netlink::wait_until_it_sends(device, PATIENCE)).unwrap().unwrap();
    }
}
