//! What goes wrong is told with its remedy.
use crate::plans::{community, link, two_hosts};
use prismux_lab::plan::{FlowPlan, KernelTcp, Transport};
use prismux_lab::{self as lab, DaemonCommand, LabError, LabOptions, LabPlan};

pub fn errors() {
    let flow = |transport| FlowPlan::new("f", "a", "b", transport);
    let error = |plan: &LabPlan| lab::run(plan, &LabOptions::default()).expect_err("an error").to_string();
    let strange = flow(Transport::Tcp).tcp(KernelTcp::modern("nonesuch"));
    let said = error(&two_hosts(1.0, link(1, 1), strange));
    assert!(said.contains("\"f\"") && said.contains("modprobe tcp_nonesuch"), "{said}");
    let said = error(&two_hosts(1.0, link(1, 1), flow(Transport::Mptcp)));
    assert!(said.contains("members"), "{said}");

    let shell = |script: &str| vec!["-c".into(), script.into()];
    let broken = DaemonCommand {
        program: "/bin/sh".into(),
        proxy: shell("echo out of order >&2; exit 3"),
        member: shell("sleep 5"),
        ..DaemonCommand::default()
    };
    let options = LabOptions { daemons: broken, ..LabOptions::default() };
    let plan = community(5.0, &[link(1, 1)], FlowPlan::new("f", "server", "receiver", Transport::Tcp));
    match lab::run(&plan, &options) {
        Err(LabError::Daemon { node, ended }) => {
            assert_eq!(node, "proxy");
            assert!(ended.contains("exit status: 3") && ended.contains("out of order"), "{ended}");
        }
        other => panic!("{other:?}"),
    }
}
