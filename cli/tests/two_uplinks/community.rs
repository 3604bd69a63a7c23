//! Neighbours on one switch, and somebody on another network of the lender's:
//!
//! ```text
//!   ann 192.168.7.9 ─┐
//!   eve 192.168.7.66 ┴ switch ─ 192.168.7.1 kitchen 10.9.0.1 ─ 10.9.0.2 proxy
//! ```
//!
//! Eve floods: forged offers to whoever asks, and asks under many names.
use crate::network::{Machine, ip, space, wait_for, wire};
use prismux_community::lending::{Ask, Receiver};
use prismux_community::slp::{Body, GROUP, Message, PORT, UrlEntry};
use prismux_linux::namespace::Namespace;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

pub const EVE: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 66);
const DESK: ([u8; 4], u16) = ([192, 168, 7, 1], 4761);

pub struct Street {
    pub ann: Machine,
    pub kitchen: Machine,
    pub proxy: Machine,
    pub eve: Namespace,
    _switch: Namespace,
}

impl Street {
    pub fn new() -> Self {
        let [ann, kitchen, proxy] = [(); 3].map(|()| Machine::start(space()));
        let (eve, switch) = (space(), space());
        ip(&switch, "link add br0 type bridge mcast_snooping 0");
        ip(&switch, "link set br0 up");
        let plugged = [(&ann.space, "ann", 9), (&kitchen.space, "kitchen", 1), (&eve, "eve", 66)];
        for (host, port, number) in plugged {
            wire(host, "lan0", &format!("192.168.7.{number}/24"), &switch, port, "0.0.0.0/32");
            ip(&switch, &format!("link set {port} master br0"));
        }
        wire(&kitchen.space, "up0", "10.9.0.1/24", &proxy.space, "eth0", "10.9.0.2/24");
        Self { ann, kitchen, proxy, eve, _switch: switch }
    }
}

/// Answers each request, which it hears as all do, with the lender's name and place under another key, and with more
/// offers of its own than anybody has; and asks the lender under many names.
fn flood(requests: &UdpSocket, has_ended: &AtomicBool, sent: &AtomicU64) {
    let key = "ab".repeat(32);
    let entry = |url: String| UrlEntry { lifetime_s: 300, url };
    let receivers = vec![Receiver { address: "10.77.0.2".parse().unwrap(), length: 32 }];
    let mut ask =
        Ask { name: String::new(), proxy: "203.0.113.1:1".parse().unwrap(), proxy_key: [6; 32], receivers };
    let mut buffer = [0; 2000];
    while !has_ended.load(Ordering::Relaxed) {
        for _ in 0..50 {
            ask.name = format!("eve-{}", sent.fetch_add(1, Ordering::Relaxed));
            let _ = requests.send_to(&ask.emit(1).unwrap(), SocketAddr::from(DESK));
        }
        let Ok((length, asker)) = requests.recv_from(&mut buffer) else { continue };
        let Ok(request) = Message::parse(&buffer[..length]) else { continue };
        for k in 0..500 {
            let own = (0..10).map(|j| format!("service:member.prismux://{EVE}:4761/eve-{k}-{j}/{key}"));
            let forged = format!("service:member.prismux://192.168.7.1:4761/kitchen/{key}");
            let entries =
                [forged, format!("service:\u{1b}[2J{k}")].into_iter().chain(own).map(entry).collect();
            let body = Body::ServiceReply { error: 0, entries };
            let reply = Message { number: request.number, is_multicast: false, has_overflowed: false, body };
            let wrong = Message { number: request.number ^ 1, ..reply.clone() };
            for bytes in [reply.emit(), wrong.emit(), vec![k as u8; 700]] {
                let _ = requests.send_to(&bytes, asker);
            }
        }
    }
}

/// Ends what another thread does, however the test goes.
pub struct End<'a>(pub &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub fn offers(host: &Machine) -> (Vec<serde_json::Value>, u64) {
    let (_, said) = host.try_run("prismux discover --json --timeout 2");
    let line = said.lines().next().unwrap_or_default();
    let found: serde_json::Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {said}"));
    (found["offers"].as_array().unwrap().clone(), found["ignored"].as_u64().unwrap())
}

pub fn lends() {
    let street = Street::new();
    let (ann, kitchen, proxy) = (&street.ann, &street.kitchen, &street.proxy);
    let (is_found, said) = ann.try_run("prismux discover --timeout 1");
    assert!(!is_found && said.contains("nobody offers an uplink on lan0"), "{said}");
    let (is_offered, said) = kitchen.try_run("prismux offer kitchen");
    assert!(!is_offered && said.contains("--device"), "on no network unless it is named: {said}");
    kitchen.spawn("prismux offer kitchen --device lan0");
    wait_for("it is offered", || kitchen.try_run("prismux lend").0);
    let code = kitchen.run("prismux lend").split_whitespace().nth(5).unwrap().to_owned();
    assert_eq!(code.len(), 19, "{}", kitchen.run("prismux lend"));

    let (found, _) = offers(ann);
    assert_eq!(
        (found.len(), found[0]["name"].as_str(), found[0]["code"].as_str()),
        (1, Some("kitchen"), Some(&*code))
    );
    assert_eq!(offers(proxy).0.len(), 0, "on a network that was not named");

    let heard = street.eve.enter(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT))).unwrap().unwrap();
    street.eve.enter(|| heard.join_multicast_v4(&GROUP, &EVE)).unwrap().unwrap();
    heard.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let (has_ended, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let _end = End(&has_ended);
        scope.spawn(|| flood(&heard, &has_ended, &sent));
        wait_for("the flood has begun", || sent.load(Ordering::Relaxed) > 1000);
        wait_for("the kitchen is found in the flood, which may drown its answer once", || {
            let (found, ignored) = offers(ann);
            let mut of_kitchen = found.iter().filter(|offer| offer["address"] == "192.168.7.1:4761");
            assert!(found.len() <= 9, "{} offers, {ignored} ignored", found.len());
            let is_found = of_kitchen.next().is_some_and(|offer| {
                assert_eq!(offer["code"], *code);
                true
            });
            assert!(of_kitchen.next().is_none(), "nobody else speaks for it: {found:?}");
            is_found && ignored > 100
        });
        lend(&street, &code);
    });
    let page = kitchen.run("prismux lend");
    assert!(page.contains("kitchen is lent") && page.contains("granted"), "{page}");
}

/// Ann asks; nothing happens until the kitchen's owner says yes to her code; the proxy then lists the kitchen, and it
/// registers there.
fn lend(street: &Street, code: &str) {
    let Street { ann, kitchen, proxy, .. } = street;
    let key = proxy.run("prismux keygen /etc/key");
    let ask = |code: &str, more: &str| {
        let key = key.trim();
        let of_ann = format!("--name ann --proxy 10.9.0.2:51820 --proxy-key {key} --receiver 10.77.0.2/32");
        ann.try_run(&format!("prismux borrow {code} {of_ann} {more}"))
    };
    let (is_lent, said) = ask("0000-0000-0000-0000", "");
    assert!(!is_lent && said.contains("nobody with the code"), "{said}");
    let (is_lent, said) = ask(code, "--timeout 2");
    assert!(!is_lent && said.contains("has said nothing"), "{said}");
    let shown = kitchen.run("prismux lend");
    let line =
        shown.lines().find(|line| line.contains("ann at 192.168.7.9")).expect("the owner sees who asks");
    assert!(line.contains("for 10.77.0.2/32 by the proxy 10.9.0.2:51820: waiting"), "{line}");
    let of_ann = line.split_whitespace().next().unwrap();
    assert!(said.contains(of_ann), "ann sees the same code: {said}");
    assert!(!kitchen.try_run("prismux lend 0000-0000-0000-0000").0);
    assert!(!kitchen.try_run("ls /etc/prismux/member.toml").0, "nobody is let in");
    let said = kitchen.run(&format!("prismux lend {of_ann}"));
    assert!(said.contains("lent to ann"), "{said}");
    let (is_lent, peer) = ask(code, "--timeout 20");
    assert!(is_lent && peer.starts_with("\n[[peers]]\nname = \"kitchen\""), "{peer}");
    proxy.append("/etc/proxy.toml", &format!(
        "receivers = [\"10.77.0.2/32\"]\nprivate_key_file = \"/etc/key\"\n[tunnel]\nsealed = \"0.0.0.0:51820\"\n{peer}"
    ));
    proxy.spawn("prismux proxy --config /etc/proxy.toml");
    kitchen.spawn("prismux member --config /etc/prismux/member.toml");
    wait_for("the kitchen's uplink registers", || {
        let (_, said) = proxy.try_run("prismux status --json");
        let page: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
        page["links"]
            .as_array()
            .is_some_and(|links| links.iter().any(|link| link["name"] == "kitchen" && link["up"] == true))
    });
}
