// Command fill fills an object of every kind of Kubernetes at random, lists but for two left out, and prints what the
// codecs of Go make of it. Its argument is the seed. It made crates/kubestore-codec/tests/data/protobuf-kinds.json.gz.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonser "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	aggv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	"sigs.k8s.io/randfill"
)

func text(c randfill.Continue) string {
	words := []string{"", "a", "web", "héllo 世界", "x<y>&\"z\"", "10.0.0.1", "node-1", "line\nbreak\t", "\u2028"}
	return words[c.Intn(len(words))]
}

func raw(c randfill.Continue) []byte {
	docs := []string{`{"a":1}`, `{"kind":"X","n":{"b":[1,2.5,null,"\u003c"]}}`, `[1,"x"]`, `"text"`, `5`, `true`}
	return []byte(docs[c.Intn(len(docs))])
}

func main() {
	var seed int64
	if _, err := fmt.Sscan(os.Args[1], &seed); err != nil {
		panic(err)
	}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextv1.AddToScheme, apiextv1beta1.AddToScheme, aggv1.AddToScheme, aggv1beta1.AddToScheme, admissionv1.AddToScheme, imagepolicyv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	depth := 0
	fill := randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.35).NumElements(0, 2).MaxDepth(12).Funcs(
		func(v *string, c randfill.Continue) { *v = text(c) },
		func(v *int32, c randfill.Continue) { *v = []int32{0, 1, -1, 80, 1 << 30, -1 << 31}[c.Intn(6)] },
		func(v *int64, c randfill.Continue) { *v = []int64{0, 1, -1, 3600, 1 << 62, -1 << 63}[c.Intn(6)] },
		func(v *float64, c randfill.Continue) { *v = []float64{0, 1, -2.5, 1e21, 1e-7, 123456.75}[c.Intn(6)] },
		func(v *metav1.Time, c randfill.Continue) {
			if c.Intn(3) == 0 {
				*v = metav1.Time{}
			} else {
				*v = metav1.Unix(int64(c.Intn(4000000000)), 0)
			}
		},
		func(v *metav1.MicroTime, c randfill.Continue) {
			*v = metav1.NewMicroTime(time.Unix(int64(c.Intn(4000000000)), int64(c.Intn(1000000))*1000))
		},
		func(v *metav1.Duration, c randfill.Continue) {
			v.Duration = []time.Duration{0, time.Second, 90 * time.Second, 1500 * time.Millisecond, -time.Hour}[c.Intn(5)]
		},
		func(v *resource.Quantity, c randfill.Continue) {
			*v = resource.MustParse([]string{"0", "1", "500m", "64Mi", "1.5Gi", "1e3", "-5", "12k", "0.001", "1024Ki"}[c.Intn(10)])
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			if c.Bool() {
				*v = intstr.FromInt32(int32(c.Intn(9000)) - 5)
			} else {
				*v = intstr.FromString(text(c))
			}
		},
		func(v *runtime.RawExtension, c randfill.Continue) {
			if c.Intn(3) > 0 {
				v.Raw = raw(c)
			}
		},
		func(v *metav1.FieldsV1, c randfill.Continue) { v.SetRawBytes([]byte(`{"f:a":{".":{}}}`)) },
		func(v *apiextv1.JSON, c randfill.Continue) { v.Raw = raw(c) },
		func(v *apiextv1beta1.JSON, c randfill.Continue) { v.Raw = raw(c) },
		func(v *apiextv1.JSONSchemaProps, c randfill.Continue) {
			if depth < 2 {
				depth++
				c.FillNoCustom(v)
				depth--
			} else {
				v.Type = "string"
			}
		},
		func(v *apiextv1beta1.JSONSchemaProps, c randfill.Continue) {
			if depth < 2 {
				depth++
				c.FillNoCustom(v)
				depth--
			} else {
				v.Type = "string"
			}
		},
		func(v *apiextv1.JSONSchemaPropsOrBool, c randfill.Continue) {
			if c.Bool() {
				v.Allows = true
				v.Schema = &apiextv1.JSONSchemaProps{}
				c.Fill(v.Schema)
			} else {
				v.Allows = c.Bool()
			}
		},
		func(v *apiextv1beta1.JSONSchemaPropsOrBool, c randfill.Continue) {
			if c.Bool() {
				v.Allows = true
				v.Schema = &apiextv1beta1.JSONSchemaProps{}
				c.Fill(v.Schema)
			} else {
				v.Allows = c.Bool()
			}
		},
		func(v *apiextv1.JSONSchemaPropsOrArray, c randfill.Continue) {
			v.Schema = &apiextv1.JSONSchemaProps{}
			c.Fill(v.Schema)
			if c.Bool() {
				v.JSONSchemas = []apiextv1.JSONSchemaProps{*v.Schema, {}}
				v.Schema = nil
			}
		},
		func(v *apiextv1beta1.JSONSchemaPropsOrArray, c randfill.Continue) {
			v.Schema = &apiextv1beta1.JSONSchemaProps{}
			c.Fill(v.Schema)
			if c.Bool() {
				v.JSONSchemas = []apiextv1beta1.JSONSchemaProps{*v.Schema, {}}
				v.Schema = nil
			}
		},
		func(v *apiextv1.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if c.Bool() {
				v.Property = []string{"a", ""}
			} else {
				v.Schema = &apiextv1.JSONSchemaProps{}
				c.Fill(v.Schema)
			}
		},
		func(v *apiextv1beta1.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if c.Bool() {
				v.Property = []string{"a", ""}
			} else {
				v.Schema = &apiextv1beta1.JSONSchemaProps{}
				c.Fill(v.Schema)
			}
		},
		func(v *runtime.Object, c randfill.Continue) {},
	)
	pb := protobuf.NewSerializer(s, s)
	js := jsonser.NewSerializerWithOptions(jsonser.DefaultMetaFactory, s, s, jsonser.SerializerOptions{})
	var gvks []schema.GroupVersionKind
	for gvk, t := range s.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || gvk.Kind == "WatchEvent" {
			continue
		}
		if strings.HasSuffix(t.PkgPath(), "/meta/v1") && gvk.Group != "" {
			continue
		}
		if strings.HasSuffix(gvk.Kind, "List") && gvk.Kind != "PodList" && gvk.Kind != "List" {
			continue
		}
		gvks = append(gvks, gvk)
	}
	sort.Slice(gvks, func(i, j int) bool { return gvks[i].String() < gvks[j].String() })
	fmt.Println("[")
	first := true
	for _, gvk := range gvks {
		obj, err := s.New(gvk)
		if err != nil {
			panic(err)
		}
		fill.Fill(obj)
		obj.GetObjectKind().SetGroupVersionKind(gvk)
		var p, j bytes.Buffer
		if err := pb.Encode(obj, &p); err != nil {
			fmt.Fprintln(os.Stderr, "pb", gvk, err)
			continue
		}
		if err := js.Encode(obj, &j); err != nil {
			fmt.Fprintln(os.Stderr, "js", gvk, err)
			continue
		}
		// What JSON would make of it after protobuf: the truth for reading.
		back, _, err := pb.Decode(p.Bytes(), nil, nil)
		if err != nil {
			panic(err)
		}
		back.GetObjectKind().SetGroupVersionKind(gvk)
		var b bytes.Buffer
		if err := js.Encode(back, &b); err != nil {
			panic(err)
		}
		// And what protobuf makes of it after JSON: the truth for writing.
		fromJSON, _, err := js.Decode(b.Bytes(), nil, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, "dec", gvk, err)
			continue
		}
		var w bytes.Buffer
		if err := pb.Encode(fromJSON, &w); err != nil {
			panic(err)
		}
		o := map[string]any{"kind": gvk.GroupVersion().String() + " " + gvk.Kind, "json": json.RawMessage(b.Bytes()), "protobuf": base64.StdEncoding.EncodeToString(p.Bytes())}
		if !bytes.Equal(w.Bytes(), p.Bytes()) {
			o["written"] = base64.StdEncoding.EncodeToString(w.Bytes())
		}
		if !first {
			fmt.Println(",")
		}
		first = false
		out, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(out)
	}
	fmt.Println("\n]")
}
