//! In which order to roll out a configuration.

use kubestore_admin::{CensusOptions, Plan, StepKind, WarningKind, census, plan};

use crate::common::{
    Backend, FALSE_KEY1, IDENTITY, KEY1, KEY2, config, gcm, put, put_sealed, rules, secret, secretbox,
};

use StepKind::{AddKeys, ChangeWriter, RemoveKeys, Rewrap, Verify};

fn kinds(plan: &Plan) -> Vec<StepKind> {
    plan.steps.iter().map(|step| step.kind).collect()
}

fn warned(plan: &Plan) -> Vec<WarningKind> {
    plan.warnings.iter().map(|warning| warning.kind).collect()
}

/// The providers of each step that changes them, for the first resource.
fn orders(plan: &Plan) -> Vec<String> {
    plan.steps
        .iter()
        .filter_map(|step| step.providers.first())
        .map(|order| order.providers.join(" "))
        .collect()
}

#[test]
fn a_rotation_adds_before_it_writes_and_removes_last() {
    let (old, new) = (config(&[&gcm(&[KEY1]), IDENTITY]), config(&[&gcm(&[KEY2]), IDENTITY]));
    let several = plan(&old, &new, None, 3);
    assert_eq!(kinds(&several), [AddKeys, ChangeWriter, Rewrap, Verify, RemoveKeys]);
    assert_eq!(
        orders(&several),
        ["aesgcm:key1 aesgcm:key2 identity", "aesgcm:key2 aesgcm:key1 identity", "aesgcm:key2 identity",]
    );
    assert_eq!(warned(&several), [WarningKind::NewKeyUnreadable, WarningKind::StillInUse]);
    assert!(!several.is_safe_at_once());

    // A single server has nobody who could not read it.
    let one = plan(&old, &new, None, 1);
    assert_eq!(kinds(&one), [ChangeWriter, Rewrap, Verify, RemoveKeys]);
    assert_eq!(warned(&one), [WarningKind::StillInUse]);
}

#[test]
fn each_step_is_a_plan_of_its_own_without_danger() {
    let stages = [config(&[&gcm(&[KEY1])]), config(&[&gcm(&[KEY1, KEY2])]), config(&[&gcm(&[KEY2, KEY1])])];
    for (old, new) in stages.iter().zip(&stages[1..]) {
        let step = plan(old, new, None, 3);
        assert!(step.is_safe_at_once(), "{step}");
    }
    let same = plan(&stages[0], &stages[0], None, 3);
    assert_eq!((kinds(&same), same.to_string().as_str()), (vec![], "nothing to do\n"));
}

#[test]
fn another_provider_is_added_behind_the_keys_of_the_writing_one() {
    let (old, new) = (config(&[&gcm(&[KEY1]), IDENTITY]), config(&[&secretbox(&[KEY2]), IDENTITY]));
    assert_eq!(
        orders(&plan(&old, &new, None, 2)),
        [
            "aesgcm:key1 secretbox:key2 identity",
            "secretbox:key2 aesgcm:key1 identity",
            "secretbox:key2 identity",
        ]
    );
}

#[test]
fn encryption_is_switched_on_and_off() {
    let (plain, encrypted) = (rules(&[("pods", &[IDENTITY])]), config(&[&gcm(&[KEY1]), IDENTITY]));
    let on = plan(&plain, &encrypted, None, 3);
    assert_eq!(kinds(&on), [AddKeys, ChangeWriter, Rewrap, Verify]);
    assert_eq!(orders(&on), ["identity aesgcm:key1", "aesgcm:key1 identity"]);
    assert_eq!(warned(&on), [WarningKind::NewKeyUnreadable]);

    let off = plan(&encrypted, &config(&[IDENTITY, &gcm(&[KEY1])]), None, 3);
    assert_eq!(
        (kinds(&off), warned(&off)),
        (vec![ChangeWriter, Rewrap, Verify], vec![WarningKind::WritesPlain])
    );
    assert!(off.is_safe_at_once(), "old servers read plain values");

    // Taking the rule away at once leaves what is stored unreadable.
    let gone = plan(&encrypted, &plain, None, 3);
    assert_eq!(kinds(&gone), [ChangeWriter, Rewrap, Verify, RemoveKeys]);
    assert_eq!(warned(&gone), [WarningKind::StillInUse, WarningKind::WritesPlain]);
}

#[test]
fn without_identity_plain_values_are_unreadable() {
    let (old, new) = (config(&[IDENTITY, &gcm(&[KEY1])]), config(&[&gcm(&[KEY1])]));
    let at_once = plan(&old, &new, None, 1);
    assert_eq!(warned(&at_once), [WarningKind::PlainUnreadable]);
    assert_eq!(kinds(&at_once), [ChangeWriter, Rewrap, Verify, RemoveKeys]);
}

#[test]
fn a_name_with_another_secret_is_a_danger_that_no_order_helps_against() {
    let wrong = plan(&config(&[&gcm(&[KEY1])]), &config(&[&gcm(&[FALSE_KEY1])]), None, 3);
    assert_eq!((warned(&wrong), kinds(&wrong)), (vec![WarningKind::SecretDiffers], vec![]));
    assert!(wrong.to_string().ends_with("no steps lead there as it is\n"), "{wrong}");
}

#[tokio::test]
async fn a_census_says_what_is_still_in_use() {
    let Backend { kv, .. } = &Backend::memory();
    let both = config(&[&gcm(&[KEY2, KEY1]), IDENTITY]);
    put_sealed(kv, &both, "/registry/secrets/ns/a", secret(1)).await;
    put(kv, "/registry/ranges/serviceips", "k8s\0").await;
    put(kv, "/registry/pods/ns/a", "{}").await;
    let counted = async || census(kv, "/registry", &CensusOptions::default()).await.unwrap();
    let reduced = config(&[&gcm(&[KEY2])]);

    let unknown = plan(&both, &reduced, None, 3);
    assert_eq!(warned(&unknown), [WarningKind::NotCounted, WarningKind::NotCounted]);
    assert_eq!(kinds(&unknown), [Rewrap, Verify, RemoveKeys]);
    let known = plan(&both, &reduced, Some(&counted().await), 3);
    assert_eq!((warned(&known), kinds(&known)), (vec![], vec![RemoveKeys]));
    assert!(known.is_safe_at_once());

    put_sealed(kv, &config(&[&gcm(&[KEY1])]), "/registry/secrets/ns/b", secret(1)).await;
    put(kv, "/registry/secrets/ns/c", secret(1)).await;
    let known = plan(&both, &reduced, Some(&counted().await), 3);
    assert_eq!(warned(&known), [WarningKind::StillInUse, WarningKind::PlainUnreadable]);
    assert_eq!(kinds(&known), [Rewrap, Verify, RemoveKeys]);
    assert!(known.warnings[0].text.contains("1 value"), "{known}");

    put(kv, "/registry/secrets/ns/d", "k8s:enc:kms:v2:plugin:x").await;
    let known = plan(&both, &both, Some(&counted().await), 3);
    assert_eq!((warned(&known), kinds(&known)), (vec![WarningKind::Unreadable], vec![Rewrap, Verify]));
}

#[tokio::test]
async fn rules_for_everything_leave_out_what_api_servers_keep_for_themselves() {
    let Backend { kv, .. } = &Backend::memory();
    for key in ["ranges/serviceips", "pods/ns/a", "foos/ns/a"] {
        put(kv, &format!("/registry/{key}"), "{}").await;
    }
    let census = census(kv, "/registry", &CensusOptions::default()).await.unwrap();
    let (old, new) = (rules(&[("*.*", &[IDENTITY])]), rules(&[("*.*", &[&gcm(&[KEY1]), IDENTITY])]));
    let plan = plan(&old, &new, Some(&census), 1);
    let rewrap = plan.steps.iter().find(|step| step.kind == Rewrap).unwrap();
    assert_eq!(rewrap.resources, ["*.*", "pods"]);
}

#[test]
fn text_and_json_name_steps_and_providers() {
    let plan = plan(&config(&[&gcm(&[KEY1])]), &config(&[&gcm(&[KEY2])]), None, 2);
    let text = plan.to_string();
    assert!(text.starts_with("danger: secrets: servers with the old configuration cannot read"), "{text}");
    assert!(text.contains("\n1. give every server the new keys"), "{text}");
    assert!(text.contains("\n   secrets: aesgcm:key1, aesgcm:key2\n"), "{text}");
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(json["steps"][0]["kind"], "addKeys");
    assert_eq!(json["steps"][0]["providers"][0]["providers"][1], "aesgcm:key2");
    assert_eq!(json["warnings"][0]["kind"], "newKeyUnreadable");
}
