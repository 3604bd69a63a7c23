//! A gateway and a home whose workers seal, send and open.
use crate::network::Network;
use crate::transfer::{Direction, Transfer};
use crate::{links, page, type_until, wait_for};

/// Workers are asked for while a download is under way, which goes on; then an upload.
pub fn both_ends() {
    let network = Network::new();
    type_until(&network, "prismux status");
    let bytes = 8_000_000;
    let transfer = Transfer::start(&network, Direction::Down, bytes);
    wait_for("it is under way", || transfer.arrived() > bytes / 8);
    let ends = [(&network.server, "gateway"), (network.home(), "home")];
    for (machine, role) in ends {
        machine.run(&format!("sed -i 1iworkers=2 /etc/prismux/{role}.toml"));
        machine.run("prismux up --detach --restart");
    }
    wait_for("both uplinks register", || links(network.home(), "up") == 2);
    transfer.finish();
    Transfer::start(&network, Direction::Up, 4_000_000).finish();
    for (machine, role) in ends {
        let workers = &page(machine)["workers"];
        let handled = |key: &str| workers[key].as_u64().unwrap();
        assert!(handled("own_sent_packets") + handled("own_opened_packets") > 1000, "{role}: {workers}");
        assert_eq!((workers["threads"].as_array().unwrap().len(), handled("refused_packets")), (2, 0));
        // What is said when it starts counts before what the file says.
        machine.run("prismux up --detach --restart --workers 1");
        assert_eq!(page(machine)["workers"]["threads"].as_array().unwrap().len(), 1, "{role}");
        machine.run("prismux down");
    }
}
